import Foundation
import Testing
import VaultTesting

@Suite("Completions") struct CompletionTests {
  @Test("each shell that is here accepts its script", arguments: ["bash", "zsh", "fish"])
  func parse(shell: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = try sandbox.must(["completions", shell])
    #expect(script.contains("vault"))
    let program = "/usr/bin/\(shell)"
    // Only bash is part of every system; the others are checked where they are.
    guard shell == "bash" || FileManager.default.isExecutableFile(atPath: program) else { return }
    let path = try sandbox.write(script, to: "script")
    let outcome = try sandbox.run([shell == "fish" ? "--no-execute" : "-n", path], program: program)
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
  }

  @Test("bash offers commands, options and the names of items")
  func bash() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "webcam"], stdin: "v")
    try sandbox.must(["set", "other"], stdin: "v")
    let script = try sandbox.write(try sandbox.must(["completions", "bash"]), to: "script")
    func offers(_ words: [String]) throws -> [String] {
      let quoted = words.map { "'\($0)'" }.joined(separator: " ")
      let line = """
        . \(script); COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count - 1); COMP_LINE="${COMP_WORDS[*]}"
        COMP_POINT=${#COMP_LINE}; _vault vault '\(words[words.count - 1])' vault; printf '%s\\n' "${COMPREPLY[@]}"
        """
      let outcome = try sandbox.run(["-c", line], program: "/bin/bash")
      return outcome.output.split(separator: "\n").map(String.init).sorted()
    }
    #expect(try offers(["vault", "hist"]) == ["history"])
    #expect(try offers(["vault", "set", "--gen"]) == ["--generate"])
    #expect(try offers(["vault", "get", "we"]) == ["web", "webcam"])
  }
}

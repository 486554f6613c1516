import Foundation
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("vault helper") struct HelperTests {
  @Test("a protocol's help is in the manual, line by line") func guides() throws {
    let lines = try Set(HelperManual().lines.map { $0.trimmingCharacters(in: .whitespaces) })
    let source = try String(contentsOfFile: HelperManual.path, encoding: .utf8)
    for helper in Helpers.all {
      #expect(source.contains("\n.It Cm \(helper.name) Ta ") && source.contains("\n.Ss \(helper.name)\n"))
      for link in helper.links { #expect(source.contains("\n.Ql \(link)"), "\(link) is not in vault-helpers(7)") }
      for line in helper.guide.split(separator: "\n") where line.hasPrefix("  ") {
        let text = line.trimmingCharacters(in: .whitespaces).replacing("PATH=/usr/libexec/vault/bin:$PATH ", with: "")
        #expect(lines.contains(text), "\(helper.name): \(text) is not in vault-helpers(7)")
      }
    }
  }

  @Test("each protocol is told of by its name and by those of its links") func names() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let list = try stand.must("vault", ["helper"]).split(separator: "\n")
    #expect(list.map { $0.prefix { $0 != " " } } == Helpers.all.map { $0.name[...] })
    for helper in Helpers.all {
      let guide = try stand.helper(helper.name, "--help")
      #expect(guide.status == 0 && guide.output == helper.guide + "\n")
      for link in helper.links { #expect(try stand.must(link, ["--help"]) == helper.guide + "\n") }
      #expect(try stand.must("vault", ["help", "helper", helper.name]) == helper.guide + "\n")
      let version = ClientVersion.line + "\n"
      #expect(try stand.must("vault", ["helper", helper.name, "--version"]) == version)
      for link in helper.links { #expect(try stand.must(link, ["--version"]) == version) }
    }
    let links = Helpers.all.flatMap { $0.links }
    #expect(Set(links).count == links.count && !links.contains("vault"))
  }

  @Test("the daemon is the one that is named, before the words or before the command") func options() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let other = try ScriptedDaemon(stand.sandbox, [:])
    defer { other.close() }
    let lines = "protocol=https\nhost=a\n"
    for words in [
      ["helper", "git", "--socket", other.socket, "get"], ["helper", "git", "--socket=\(other.socket)", "get"],
      ["--socket", other.socket, "helper", "git", "get"], ["helper", "--socket", other.socket, "git", "get"],
      ["helper", "--wait", "1s", "--socket", other.socket, "git", "get"],
    ] {
      let outcome = try stand.sandbox.run(words, stdin: Array(lines.utf8))
      #expect(outcome.status == 78 && outcome.errors.contains("there is no vault yet"), "\(words): \(outcome)")
    }
    #expect(try stand.helper("git", "--system", "--socket", "/x", "get", stdin: lines).status == 64)
    #expect(try stand.helper("git", "--wait", "soon", "get", stdin: lines).status == 64)
    // Behind the words of a protocol, `--socket` is no option.
    #expect(try stand.helper("git", "get", "--socket", other.socket, stdin: lines).status == 64)
  }

  @Test("a mistyped protocol is answered with the nearest one") func mistyped() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let outcome = try stand.helper("dokcer", "get")
    #expect(outcome.status == 64 && outcome.errors.contains("docker"), "\(outcome)")
  }

  @Test("an agent is asked for what is read, and its no is the answer") func agent() throws {
    let stand = try AgentStand(items: ["git/https/example.org/ana"])
    defer { stand.close() }
    try stand.attend(faces: "command", ["secret": password])
    try stand.sandbox.must(["lock"])
    let lines = Array("protocol=https\nhost=example.org\n".utf8)
    #expect(try stand.sandbox.run(["helper", "git", "get"], stdin: lines).output == "username=ana\npassword=hunter2\n")
  }
}

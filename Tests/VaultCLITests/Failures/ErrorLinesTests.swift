import Foundation
import Testing
import VaultModel
import VaultTesting
import VaultWire

/// Messages on standard error that quote a daemon, a file or a person. The quoted words stay inside one line of the
/// program's own message, however long they are and whatever they contain, so that nothing looks like another message.
@Suite("Lines of standard error") struct ErrorLinesTests {
  private static let evil = String(
    repeating: "x\u{1B}[2J\r\nvault: unlocked\u{B}\u{C}\u{85}\u{2028}\u{2029}vault: it is \u{202E}", count: 100)

  /// The same text as JSON spells it.
  private static func json() throws -> String {
    let array = String(decoding: try JSONSerialization.data(withJSONObject: [evil]), as: UTF8.self)
    return String(array.dropFirst().dropLast())
  }

  private func expectLines(
    _ outcome: Outcome, _ count: ClosedRange<Int> = 1...1, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(
      outcome.errors.hasSuffix("\n") && count.contains(lines.count - 1), "\(outcome)", sourceLocation: sourceLocation)
    for line in lines.dropLast() {
      #expect(line.hasPrefix("vault: ") && Printable.isPlain(String(line)), "\(line)", sourceLocation: sourceLocation)
      #expect(line.unicodeScalars.count <= 800, "\(line)", sourceLocation: sourceLocation)
    }
  }

  /// Each error of the interface, with the names and types of its parameters.
  private static let errors: [(name: String, fields: [(String, String)])] = {
    let lines = "\(VaultInterface.description)".split(separator: "\n")
    let declarations = lines.filter { !$0.trimmingPrefix(while: \.isWhitespace).hasPrefix("#") }.joined(separator: " ")
    return declarations.matches(of: /error (\w+) \(([^)]*)\)/).map { match in
      let fields = match.output.2.split(separator: ",").map { field in
        field.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
      }
      return (String(match.output.1), fields.map { ($0[0], $0[1]) })
    }
  }()

  @Test("each error of a daemon is one of them", arguments: errors.map(\.name))
  func faults(name: String) throws {
    let fields = try #require(Self.errors.first { $0.name == name }).fields
    let evil = try Self.json()
    let parameters = fields.map { field, type in
      switch type.drop(while: { $0 == "?" }) {
      case "string": "\"\(field)\":\(evil)"
      case "bool": "\"\(field)\":false"
      default: "\"\(field)\":1"
      }
    }
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let reply = #"{"error":"io.vaultd.Vault.\#(name)","parameters":{\#(parameters.joined(separator: ","))}}"#
    let daemon = try ScriptedDaemon(sandbox, ["Get": [reply], "Lock": [reply]])
    defer { daemon.close() }
    for command in [["get", "x"], ["lock"]] {
      let outcome = try sandbox.run(command + ["--socket", daemon.socket])
      #expect(outcome.status != 0 && outcome.output.isEmpty)
      expectLines(outcome)
      #expect(fields.contains { $0.1 == "string" } || !outcome.errors.contains("\\u{"))
    }
  }

  @Test("the tests know the errors of the interface") func found() {
    #expect(Self.errors.count > 30 && Self.errors.contains { $0.name == "Locked" && $0.fields.count == 2 })
  }

  @Test("an answer that is none, a message and a slot that was left out are each one of them") func others() throws {
    let evil = try Self.json()
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let prompt =
      #"{"parameters":{"conversation":"c","prompt":{"style":"info","method":"pam","text":\#(evil)}},"continues":true}"#
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Get": [#"{"error":\#(evil)}"#], "Show": [#"{"parameters":{"item":\#(evil)}}"#], "Status": [evil],
        "Lock": [#"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":\#(evil)}}"#],
        "Unlock": [prompt, prompt, #"{"error":"io.vaultd.Vault.Cancelled"}"#],
      ])
    defer { daemon.close() }
    for command in [["get", "x"], ["show", "x"], ["status"], ["lock"]] {
      let outcome = try sandbox.run(command + ["--socket", daemon.socket])
      #expect(outcome.status != 0)
      expectLines(outcome)
    }
    expectLines(try sandbox.run(["unlock", "--password-stdin", "--socket", daemon.socket]), 1...3)
  }

  @Test("so are names, paths, queries and options that somebody typed") func typed() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let evil = "x\nvault: unlocked\r\n\u{1B}[2J\u{2028}vault: y"
    let nowhere = "/nonexistent/" + evil
    for arguments in [
      [evil], ["get", evil], ["show", evil], ["rm", evil], ["find", evil + "="], ["list", "--socket", nowhere],
      ["get", "x", "--field", evil], ["set", evil, "--kind", evil], ["set", "y", "--file", nowhere],
      ["backup", nowhere + "/" + evil], ["restore", nowhere], ["unlock", "--method", evil], ["slot", "rm", evil],
      ["get", "--" + evil], ["deposit", evil], ["deposit", "--sealed", nowhere], ["deposits", "drop", evil],
      ["deposit", "x", "--seal", "--key", nowhere],
    ] {
      let outcome = try sandbox.run(arguments)
      #expect(outcome.status != 0, "\(arguments)")
      expectLines(outcome)
    }
  }

  @Test("so is what a daemon says that does not start") func start() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let programs = sandbox.root + "/bin"
    try sandbox.write(Self.evil, to: "evil")
    let made = try sandbox.run(
      [
        "-c",
        "mkdir $0 && cp $1 $0/vault && printf '%s\\n' '#!/bin/sh' \"cat $2 >&2; exit 78\" >$0/vaultd && chmod 755 "
          + "$0/vaultd",
        programs, Sandbox.path(of: "vault"), sandbox.home + "/evil",
      ], program: "/bin/sh")
    #expect(made.status == 0, "\(made)")
    let outcome = try sandbox.run(["list"], program: programs + "/vault")
    #expect(outcome.status == 78 && outcome.errors.contains("\\u{1b}[2J"), "\(outcome)")
    expectLines(outcome)
  }
}

import Foundation
import Testing
import VaultBytes
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

/// Hostile text from a daemon, or from a program that listens in its place: the terminal only shows it, where it
/// belongs.
@Suite("Text of a daemon") struct ForeignTextTests {
  /// Text that writes the clipboard, clears the screen, reverses the writing direction and hides later text, in JSON's
  /// spelling.
  static let evil =
    #"x\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u009b2J\u202e\u2066\u061c\u200b\u2060\ufeff\u2028\r\nvault: "#
    + #"\u007f\udb40\udc41y"#
  static let item =
    #"{"name":"\#(evil)","kind":"\#(evil)","attributes":{"\#(evil)":"\#(evil)"},"accessible":"\#(evil)","#
    + #""require":"\#(evil)","reuse":60,"version":1,"created":0,"modified":0,"expires":1,"size":1}"#
  static let state =
    #""state":"\#(evil)","cause":"\#(evil)","since":0,"locks_at":1,"locks_because":"\#(evil)","locks_on":["\#(evil)"],"#
    + #""problem":"\#(evil)","integrity":{"state":"\#(evil)"},"#
    + #""methods":[{"name":"\#(evil)","available":false,"possible":false,"reason":"\#(evil)","advice":"\#(evil)"}],"#
    + #""warnings":[{"about":"\#(evil)","text":"\#(evil)","advice":"\#(evil)"}],"#
    + #""version":"\#(evil)","pid":1"#
  static let replies = [
    "Find": [#"{"parameters":{"items":[\#(item)]}}"#],
    "Show": [#"{"parameters":{"item":\#(item)}}"#],
    "PublicKey": [#"{"parameters":{"key":"\#(evil)\n","fingerprint":"\#(evil)"}}"#],
    "Status": [#"{"parameters":{\#(state)}}"#],
    "ListSlots": [
      #"{"parameters":{"slots":[{"id":1,"kind":"\#(evil)","label":"\#(evil)","created":0,"kdf_memory":0,"#
        + #""kdf_passes":0,"#
        + #""keystore":"\#(evil)","users":[]}]}}"#
    ],
    "Get": [#"{"error":"io.vaultd.Vault.NoSuchItem","parameters":{"name":"\#(evil)"}}"#],
    "Monitor": [
      #"{"parameters":{"event":"item","time":0,"change":"\#(evil)","name":"\#(evil)","to":"\#(evil)"},"#
        + #""continues":true}"#,
      #"{"parameters":{"event":"\#(evil)","time":0,"state":"\#(evil)","cause":"\#(evil)"}}"#,
    ],
    "Verify": [
      #"{"parameters":{"findings":[{"kind":"\#(evil)","item":1,"name":"\#(evil)","text":"\#(evil)"}]},"#
        + #""continues":true}"#,
      #"{"parameters":{"findings":[],"result":{"records":1,"unharmed":0,"harmed":1,"omitted":0,"#
        + #""unchecked":["\#(evil)"],"#
        + #""changed":["\#(evil)"],"reason":"\#(evil)"}}}"#,
    ],
    "Lock": [#"{"error":"io.vaultd.Vault.\#(evil)","parameters":{}}"#],
    "ChangePassword": [
      #"{"error":"io.vaultd.Vault.MethodUnavailable","parameters":{"method":"\#(evil)","reason":"\#(evil)"}}"#
    ],
    "Unlock": [
      #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"info","method":"pam","text":"\#(evil)"}},"#
        + #""continues":true}"#,
      #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"secret","method":"pam","text":"\#(evil)"}},"#
        + #""continues":true}"#,
    ],
  ]

  /// The characters on which a terminal acts, except CR and LF.
  private static func acts(_ screen: String) -> [String] {
    screen.unicodeScalars.filter { !$0.isShown && $0 != "\r" && $0 != "\n" }.map { String($0.value, radix: 16) }
  }

  @Test(
    "nothing it says reaches the terminal but as text, in any command",
    arguments: [
      ["list"], ["list", "--json"], ["find", "x"], ["show", "x"], ["show", "x", "--json"], ["status"],
      ["status", "--json"], ["slot", "list"], ["slot", "list", "--json"], ["get", "x"],
      ["get", "x", "--field", "kind"], ["pubkey", "x"], ["pubkey", "x", "--fingerprint"], ["show-key"],
      ["lock"], ["passwd"], ["doctor"], ["watch"], ["watch", "--json"], ["verify"], ["verify", "--json"],
    ])
  func commands(arguments: [String]) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies)
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, arguments + ["--socket", daemon.socket], environment: ["NO_COLOR": "1"])
    try terminal.wait()
    #expect(Self.acts(terminal.screen) == [], "\(terminal.screen)")
    #expect(terminal.screen.contains(#"\u{1b}]52"#) || terminal.screen.contains(#"\u001b]52"#), "\(terminal.screen)")
    // A new line of the daemon's text must not begin like one of the program's messages.
    #expect(!terminal.screen.contains("\nvault: y") && !terminal.screen.contains("\nvault: \\u"))
  }

  @Test("each question and message of the daemon begins with vault:, and each further row of it with an ellipsis")
  func prompts() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies)
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["unlock", "--socket", daemon.socket])
    try terminal.expect("y: ")
    terminal.control("d")
    try terminal.wait()
    #expect(Self.acts(terminal.screen) == [], "\(terminal.screen)")
    let lines = terminal.screen.split(separator: "\r\n")
    #expect(lines.count > 3 && lines.allSatisfy { $0.hasPrefix("vault: ") || $0.hasPrefix("… ") }, "\(lines)")
    // The terminal has 100 columns, and no line wraps.
    #expect(lines.dropLast().allSatisfy { $0.unicodeScalars.count < 100 }, "\(lines.map(\.unicodeScalars.count))")
  }

  @Test(
    "its colours are text, where ours are none",
    arguments: [
      ["list"], ["find", "x"], ["slot", "list"], ["doctor"], ["show", "x"], ["status"], ["verify"], ["watch"],
      ["pubkey", "x"], ["show-key"],
    ])
  func colours(arguments: [String]) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let evil = #"e\u001b[31mvil\u001b[1m\u001b[0m"#
    let replies = Self.replies.mapValues { replies in
      replies.map { $0.replacingOccurrences(of: Self.evil, with: evil) }
    }
    // The way in must be one that the vault offers.
    let status =
      #"{"parameters":{"state":"locked","cause":"c","since":0,"locks_on":[],"vault":"v","methods":["#
      + #"{"name":"\#(evil)","available":true,"possible":true}],"warnings":[{"about":"\#(evil)","text":"\#(evil)"}],"#
      + #""version":"\#(evil)","pid":1}}"#
    let daemon = try ScriptedDaemon(sandbox, replies.merging(["Status": [status]]) { $1 })
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, arguments + ["--socket", daemon.socket])
    try terminal.wait()
    // A table may cut the text off, so expect only its beginning.
    #expect(terminal.screen.contains(#"e\u{1b}[31mvil\"#), "\(terminal.screen)")
    #expect(!terminal.screen.contains("e\u{1B}") && !terminal.screen.contains("vil\u{1B}[1m"))
  }

  @Test("a table is as wide as what it shows, and its colours add nothing")
  func table() {
    var table = Table("A", "B", "C")
    table.add(.init("a"), .init("red", isRed: true), .init("c"))
    table.add(.init("\u{1B}[0m"), .init(""), .init(""))
    #expect(table.count == 2)
    #expect(table.text() == "A          B    C\na          red  c\n\\u{1b}[0m\n")
    table.add(.init("a"), .init("b"), .init(""))
    #expect(table.text() == "a          b\n" && table.count == 0)
  }

  @Test("to a pipe names are exact, and messages are text still")
  func pipes() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies)
    defer { daemon.close() }
    let list = try sandbox.run("find", "x", "--socket", daemon.socket)
    #expect(list.output.hasPrefix("x\u{1B}]52;c;cHduZWQ=\u{7}") && list.output.hasSuffix("\u{7F}\u{E0041}y\n"))
    let get = try sandbox.run("get", "x", "--socket", daemon.socket)
    #expect(get.status == 66 && Self.acts(get.errors) == [] && get.errors.split(separator: "\n").count == 1)
    let path = try sandbox.run("list", "--socket", sandbox.home + "/\u{1B}]0;pwned\u{7}")
    #expect(path.status == 69 && Self.acts(path.errors) == [], "\(path.errors)")
    let names = try sandbox.run(["__complete", "--", "", "get"], environment: ["VAULT_SOCKET": daemon.socket])
    #expect(names.status == 0 && names.output.isEmpty, "nobody could tell what completes to such a name")
  }

  @Test("what was typed wrong is repeated as text")
  func typed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let evil = "\u{1B}]52;c;cHduZWQ=\u{7}\u{202E}"
    let nowhere = "/nonexistent" + evil
    for arguments in [
      [evil], ["unlock", "--method", evil], ["set", "x", "--file", nowhere], ["restore", nowhere], ["get", evil],
      ["find", evil + "="], ["list", "--socket", nowhere],
    ] {
      let outcome = try sandbox.run(arguments, program: "vault")
      #expect(outcome.status != 0 && outcome.errors.hasPrefix("vault: "), "\(outcome)")
      #expect(Self.acts(outcome.errors) == [], "\(arguments)")
    }
  }

  @Test("a value is exact everywhere, on a terminal when that is forced")
  func value() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "raw"], stdin: "\u{1B}[1m\u{202E}\u{1}")
    let terminal = try Terminal(sandbox, ["get", "raw", "--force"])
    try terminal.wait()
    #expect(terminal.screen == "\u{1B}[1m\u{202E}\u{1}\r\n")
  }

  @Test("a terminal's JSON is the same value")
  func json() throws {
    for text in ["\u{7F}", "\u{9B}", "\u{202E}", "\u{E0041}", "é鍵👍", "\u{FEFF}"] {
      let json = Array(#"["\#(text)"]"#.utf8)
      let shown = JSONEscapes.apply(to: unsafe json.span.bytes)
      let bytes = shown.withBytes { bytes in (0..<bytes.byteCount).map { Span<UInt8>(_bytes: bytes)[$0] } }
      #expect(Self.acts(String(decoding: bytes, as: UTF8.self)) == [])
      #expect(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String] == [text])
    }
  }

  @Test("every character that turns, hides or moves text is spelled out")
  func characters() {
    let ranges: [ClosedRange<UInt32>] = [
      0...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x115F...0x1160, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
      0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xE000...0xE001, 0xE0001...0xE007F,
    ]
    for value in ranges.joined() {
      guard let scalar = Unicode.Scalar(value) else { continue }
      #expect(Printable.line(String(scalar)) == "\\u{\(String(value, radix: 16))}")
    }
    #expect(
      Printable.screen("\u{1B}[1mours\u{1B}[0m\nand \u{1B}[8mtheirs") == "\u{1B}[1mours\u{1B}[0m\nand \\u{1b}[8mtheirs")
  }
}

import Foundation
import Testing
import VaultTesting

@Suite("The network of an item of kind wifi, on a terminal") struct SetNetworkTests {
  private static let name = "Name of the network (ssid): "
  private static let value = "Value of `x`: "
  private static let text = "WIFI:T:WPA;S:net;P:long enough;;"

  private func fields(_ sandbox: Sandbox) throws -> [String] {
    try ["ssid", "security", "value"].map { try sandbox.must(["get", "x", "--field", $0]) }
  }

  @Test("a name that cannot be one is asked for again, and not the value") func name() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "wifi"])
    try terminal.expect(Self.name)
    terminal.type(String(repeating: "x", count: 33))
    try terminal.expect("vault: a network's name has 1 to 32 bytes of text")
    try terminal.expect(Self.name)
    terminal.type("net")
    for question in [Self.value, "Again: "] {
      try terminal.expect(question)
      terminal.type("long enough")
    }
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x", "--field", "ssid"]) == "net")
    // The options are checked before any question.
    let given = try Terminal(
      sandbox, ["set", "y", "--kind", "wifi", "--attr", "ssid=\(String(repeating: "x", count: 33))"])
    #expect(try given.wait() == 65)
    #expect(given.screen.contains("attribute 'ssid' has 1 to 32 bytes") && !given.screen.contains("Value"))
  }

  @Test("the name may come with the text of the QR code", arguments: ["", text]) func follows(answer: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "wifi"])
    try terminal.expect(Self.name)
    terminal.type(answer)
    if !answer.isEmpty { try terminal.expect("vault: that is the text of a QR code; give it as the value") }
    try terminal.expect(Self.value)
    terminal.type(Self.text)
    #expect(try terminal.wait() == 0)
    #expect(try fields(sandbox) == ["net", "WPA", "long enough"])
  }

  @Test("where it did not come it is asked for after the value") func late() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "wifi"])
    try terminal.expect(Self.name)
    terminal.type("")
    for question in [Self.value, "Again: "] {
      try terminal.expect(question)
      terminal.type("long enough")
    }
    for answer in ["", Self.text, "net"] {
      try terminal.expect(Self.name)
      terminal.type(answer)
    }
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "x", "--field", "ssid"]) == "net" && sandbox.must(["get", "x"]) == "long enough")
  }

  @Test("a QR code of another network than the one that was named is asked about, and refused elsewhere")
  func differs() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let refused = try sandbox.run("set", "x", "--kind", "wifi", "--attr", "ssid=other", stdin: Self.text)
    #expect(refused.status == 75 && refused.errors.contains("the QR code is for the network `net`, not for `other`"))
    for (answer, status) in [("n", Int32(77)), ("y", 0)] {
      let terminal = try Terminal(sandbox, ["set", "x", "--kind", "wifi", "--attr", "ssid=other"])
      try terminal.expect(Self.value)
      terminal.type(Self.text)
      try terminal.expect("Store what the QR code says? [y/N] ")
      terminal.type(answer)
      if answer == "n" {
        try terminal.expect("Try again with the same value (y), type it again (e), or give up (n)? ")
        terminal.type("n")
      }
      #expect(try terminal.wait() == status)
    }
    #expect(try fields(sandbox) == ["net", "WPA", "long enough"])
    // The option may name the same network as the text.
    try sandbox.must(["set", "z", "--kind", "wifi", "--attr", "ssid=net"], stdin: Self.text)
    #expect(try sandbox.must(["get", "z"]) == "long enough")
  }

  @Test("a QR code describes the whole network, so what is known of another one goes") func whole() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    func attributes() throws -> [Substring] {
      try sandbox.must(["show", "x"]).split(separator: "\n").filter { $0.hasPrefix("attr") }
    }
    let hidden = "WIFI:T:WPA;S:net;P:long enough;H:true;;"
    try sandbox.must(["set", "x", "--kind", "wifi", "-a", "bssid=00:11:22:33:44:55", "-a", "room=hall"], stdin: hidden)
    #expect(try attributes().contains("attr hidden: true"))
    try sandbox.must(["set", "x", "--update"], stdin: Self.text)
    #expect(
      try attributes() == ["attr bssid: 00:11:22:33:44:55", "attr room: hall", "attr security: WPA", "attr ssid: net"])
    try sandbox.must(["set", "x", "--update"], stdin: "WIFI:T:WPA;S:other;P:longer still;;")
    #expect(try attributes() == ["attr room: hall", "attr security: WPA", "attr ssid: other"])
    #expect(try sandbox.must(["get", "x", "--field", "uri"]) == "WIFI:T:WPA;S:other;P:longer still;;")
    // The attributes are no part of a version.
    let terminal = try Terminal(sandbox, ["restore-version", "x", "2"])
    try terminal.expect("it is the passphrase of room=hall, security=WPA, ssid=other now; `vault set NAME --update")
    #expect(try terminal.wait() == 0)
  }

  @Test("a QR code is taken apart in a deposit, and is no passphrase anywhere") func deposited() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let text = "WIFI:T:WPA;S:net;P:long\\;enough;H:true;;"
    try sandbox.must(["deposit", "x", "--kind", "wifi", "-a", "room=hall"], stdin: text)
    #expect(try sandbox.must(["get", "x"]) == "long;enough")
    #expect(try sandbox.must(["get", "x", "--field", "uri"]) == text)
    let other = try sandbox.run("deposit", "y", "--kind", "wifi", "-a", "ssid=other", stdin: text)
    #expect(other.status == 65 && other.errors.contains("the QR code is for the network `net`, not for `other`"))
    let line = #"{"name":"y","kind":"wifi","attributes":{"ssid":"net"},"value":"WIFI:T:WPA;S:net;P:long enough;;"}"#
    let batch = try sandbox.run("set", "--batch", stdin: line)
    #expect(batch.status == 65 && batch.errors.contains("it is the text of a network's QR code"), "\(batch)")
    // Without the kind, only the vault knows that the item is one.
    try sandbox.must(["deposit", "x"], stdin: text)
    #expect(try sandbox.must(["get", "x"]) == "long;enough")
    #expect(try sandbox.must(["deposits"]).contains("the value is not valid for its kind"))
  }

  @Test("a text that is refused says what is wrong with it, and another can be given") func refused() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "x", "--kind", "wifi"])
    try terminal.expect(Self.name)
    terminal.type("")
    try terminal.expect(Self.value)
    terminal.type("WIFI:T:WPA2-EAP;S:net;P:x;;")
    try terminal.expect("the QR code is of a network with accounts (EAP)")
    try terminal.expect("Type it again (e), ")
    terminal.type("e")
    // This time the same network's text may follow again.
    try terminal.expect(Self.value)
    terminal.type("WIFI:S:Open;;")
    #expect(try terminal.wait() == 0)
    #expect(try fields(sandbox) == ["Open", "nopass", ""])
  }
}

import Testing
import VaultWire

@testable import VaultCLI

@Suite("What show says of an item") struct ShowingTests {
  @Test("what a keyring's clients keep stands under its own names, on a line each, with every character spelled out")
  func keyring() {
    let keyring = Wire.Keyring(
      id: "00000000000000ff", order: "7", label: "two\nlines\u{202e}", contentType: "",
      attributes: [
        Wire.KeyringAttribute(key: "", value: ""), Wire.KeyringAttribute(key: "kind: x\nname", value: "tab\t"),
        Wire.KeyringAttribute(key: "user", value: "ana"),
      ])
    var item = Wire.Item(
      name: "a", kind: "note", attributes: ["user": "ben"], accessible: "always", require: "none", reuse: 60,
      version: 1, created: 0, modified: 0, size: 1, keyring: keyring)
    let lines = ShowCommand.lines(item)
    #expect(
      lines[3..<10] == [
        "keyring id: 00000000000000ff", "keyring label: two\\u{a}lines\\u{202e}", "keyring type: ", "keyring order: 7",
        "keyring attr ``: ", "keyring attr `kind: x\\u{a}name`: tab\\u{9}", "keyring attr `user`: ana",
      ])
    #expect(lines[2] == "attr user: ben" && lines.allSatisfy { !$0.contains("\n") })
    item.keyring?.created = 1_600_000_000
    item.keyring?.modified = 1_600_000_001
    let imported = ShowCommand.lines(item)
    #expect(imported.count == lines.count + 2 && imported[10].hasPrefix("keyring created: 2020-09-13"))
    #expect(imported[11].hasPrefix("keyring modified: 2020-09-13"))
    item.keyring = nil
    #expect(ShowCommand.lines(item).count == lines.count - 7)
  }
}

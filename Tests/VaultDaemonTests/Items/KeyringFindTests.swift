import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("A search for items that a keyring's clients made") struct KeyringFindTests {
  /// Stores items with so many attributes each, and finds them in frames that a client accepts.
  private func find(_ items: Int, attributes: Int, value: String) throws -> (frames: Int, items: [Wire.Item]) {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let messages: [String] = try stand.on { client in
      let attributes = try KeyringAttributes((0..<attributes).map { (key: String($0, radix: 36), value: value) })
      for number in 0..<items {
        let facts = KeyringFacts(
          id: KeyringID(number: UInt64(number)), order: .max, label: "\u{1}", contentType: "t", attributes: attributes)
        try client.vault.keychain().set(
          ItemChange(name: ItemName("b\(number)"), kind: .note, keyring: facts), value: ConnectionStand.secret([65]),
          now: 1)
      }
      client.call("Find", more: true)
      return []
    }
    var all = messages
    for _ in 0..<1000 where all.last?.contains("\"continues\":true") != false {
      all += try stand.on { client in client.messages() }
    }
    let found = try all.flatMap { text in
      #expect(text.utf8.count < FrameReader.defaultLimit)
      let bytes = Array(text.utf8)
      let frame = try Frame(parsing: unsafe bytes.span.bytes)
      guard let parameters = frame.member("parameters", of: frame.root) else {
        throw SandboxError("a reply has no parameters")
      }
      return try Wire.FindReply(frame, parameters).items
    }
    // The stand's own item was made by no such client.
    #expect(found.first?.name == "a" && found.first?.keyring == nil)
    return (all.count, Array(found.dropFirst()))
  }

  @Test("tells what they keep, in frames that are not too long and have not too many parts") func frames() throws {
    let many = try find(30, attributes: 256, value: "")
    #expect(many.items.count == 30 && many.frames > 2, "\(many.frames)")
    let keyring = try #require(many.items[3].keyring)
    #expect(keyring.id == "0000000000000003" && keyring.order == "18446744073709551615" && keyring.label == "\u{1}")
    #expect(keyring.attributes.count == 256 && keyring.attributes[0].key == "0" && keyring.contentType == "t")
    let long = try find(2, attributes: 64, value: String(repeating: "\u{1}", count: 1000))
    #expect(long.frames > 1 && long.items.count == 2 && long.items.allSatisfy { $0.keyring?.attributes.count == 64 })
    let none = try find(0, attributes: 0, value: "")
    #expect(none.items.isEmpty && none.frames == 1)
  }
}

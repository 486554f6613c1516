import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct PlaintextTests {
  private let words = ["iothome", "express", "zigbee", "hallway", "Sw0rdfish", "aquamarine"]

  private func find(_ words: [String], in files: [String: Data]) -> [String] {
    words.filter { word in files.values.contains { $0.range(of: Data(word.utf8)) != nil } }
  }

  @Test("no name, attribute or value stands in any file, while open and after")
  func plaintext() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for accessible in AccessClass.allCases {
        try keychain.put(
          "iothome/express.\(accessible.name)", "Sw0rdfish", attributes: ["zigbee": "hallway"], accessible: accessible)
      }
      try keychain.put("iothome/express.always", "aquamarine", update: true)
      try keychain.move(from: name("iothome/express.always"), to: name("iothome/express"), now: 3000)
      let files = try fixture.files()
      // The search would see it: the label of a slot is in the clear.
      #expect(find(["slot 1"], in: files) == ["slot 1"])
      #expect(files["vault.db-wal"]?.isEmpty == false)
      #expect(find(words, in: files) == [])
    }
    #expect(find(words, in: try fixture.files()) == [])
  }

  @Test("nothing of a deleted item's sealed record stays in the database file")
  func deleted() throws {
    let fixture = try Fixture()
    do { try fixture.unlocked().put("a", String(repeating: "x", count: 300)) }
    let sealed = try fixture.copied("vals", where: "item = 1")[0]
    let hex = try #require(sealed.split(separator: "'").dropFirst().first)
    let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
    #expect(try fixture.files()["vault.db"]?.range(of: Data(bytes)) != nil)
    do { try fixture.unlocked().delete([name("a")]) }
    #expect(try fixture.files().values.allSatisfy { $0.range(of: Data(bytes)) == nil })
  }

  @Test("equal values are sealed differently each time")
  func nonces() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("a", "same")
      try keychain.put("a", "same", update: true)
      try keychain.put("b", "same")
    }
    let rows = try fixture.copied("vals", where: "true")
    #expect(Set(rows.map { $0.split(separator: "'")[1] }).count == 3)
  }
}

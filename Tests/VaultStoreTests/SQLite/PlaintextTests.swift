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
      // The positive control: a slot's label stands in the clear.
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
    let record = try fixture.copied("heads", where: "id = 1")[0].split(separator: "'")
    let beginnings = [record[3], record[5]].map { hex in
      Data(stride(from: 0, to: 64, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) })
    }
    for bytes in beginnings { #expect(try fixture.files()["vault.db"]?.range(of: bytes) != nil) }
    do { try fixture.unlocked().delete([name("a")]) }
    for bytes in beginnings { #expect(try fixture.files().values.allSatisfy { $0.range(of: bytes) == nil }) }
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
    let older = try fixture.copied("vals", where: "true").map { $0.split(separator: "'")[1] }
    let current = try fixture.copied("heads", where: "true").map { $0.split(separator: "'")[5] }
    #expect(Set(older + current).count == 3)
  }
}

import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite("Records of grants") struct GrantRecordTests {
  static func samples() throws -> [GrantRecord] {
    let subject = try Subject(parsing: "user:990,unit:iothome.service")
    let grant = Grant(
      subject: subject, pattern: try ItemPattern("iothome/*"), rights: try Rights(parsing: "get,watch"), created: 7)
    var (ending, used) = (grant, grant)
    ending.until = 1 << 40
    (used.until, used.used) = (-1, 3)
    let credential = Grant(
      subject: try Subject(parsing: "unit:tls.service"), pattern: try ItemPattern("tls/key"),
      rights: try Rights(parsing: "get"), credential: try CredentialID("express.key"), created: 7)
    return
      ([
        .grant(grant), .grant(ending), .grant(used), .grant(credential), .confined(subject), .unconfirmed(since: 9),
        .denied(subject, try ItemName("iothome/a")),
      ]
      as [GrantRecord.Content]).map { GrantRecord($0) }
  }

  private static func bytes(_ record: GrantRecord) -> [UInt8] { record.encoded().array }

  private static func decode(_ bytes: [UInt8], _ id: ItemID) throws(CryptoError) -> GrantRecord {
    try bytes.withSpan { (span: RawSpan) throws(CryptoError) in try GrantRecord(decoding: span, id: id) }
  }

  @Test("are read back as they were written") func round() throws {
    for record in try Self.samples() { #expect(try Self.decode(Self.bytes(record), record.id) == record) }
  }

  @Test("are refused when they are cut or longer, and have one encoding each") func changed() throws {
    for record in try Self.samples() {
      let bytes = Self.bytes(record)
      for count in bytes.indices {
        #expect(throws: CryptoError.self) { try Self.decode(Array(bytes.prefix(count)), record.id) }
      }
      #expect(throws: CryptoError.self) { try Self.decode(bytes + [0], record.id) }
      for bit in 0..<bytes.count * 8 {
        var flipped = bytes
        flipped[bit / 8] ^= 1 << (bit % 8)
        guard let other = try? Self.decode(flipped, record.id) else { continue }
        #expect(other != record && Self.bytes(other) == flipped)
      }
    }
  }

  @Test("An item's head knows who stored what") func authors() throws {
    var item = ItemInfo(
      name: try ItemName("a"), kind: .note, attributes: [:], policy: Policy(), created: 1, modified: 1, expires: nil,
      versions: (1...3).map { VersionInfo(number: $0, created: 1, size: 0) })
    func check() throws {
      let head = HeadRecord(
        item: item, policyRevision: 1, headRevision: 1, nextVersion: 4,
        digests: (0..<3).map { [UInt8($0)].withSpan { Digest(of: $0) } })
      let bytes = head.encoded().array
      #expect(bytes.count == head.encodedCount)
      #expect(try bytes.withSpan { (span: RawSpan) throws(CryptoError) in try HeadRecord(decoding: span) } == head)
    }
    try check()
    item.creator = "user:990,unit:x.service"
    try check()
    item.versions[0].writer = "user:990,unit:x.service"
    item.versions[2].writer = "user:0"
    try check()
    item.trashed = Trashed(time: 5, age: 6)
    try check()
    item.creator = nil
    try check()
    item.creator = String(repeating: "x", count: 301)
    #expect(throws: CryptoError.self) { try HeadAuthors.validate(item) }
  }

  @Test("An author field that says something in two ways is none") func authorField() throws {
    let item = ItemInfo(
      name: try ItemName("a"), kind: .note, attributes: [:], policy: Policy(), created: 1, modified: 1, expires: nil,
      versions: [VersionInfo(number: 1, created: 1, size: 0)])
    func decode(_ bytes: [UInt8]) throws(CryptoError) {
      var item = item
      try HeadAuthors.decode(bytes, into: &item)
    }
    #expect(throws: Never.self) { try decode([2, 1, 0, 65, 1, 0, 66, 1, 2]) }
    for bytes: [UInt8] in [
      [], [0], [0, 0, 0], [1, 1, 0, 65, 1], [1, 1, 0, 65, 2, 0], [1, 1, 0, 65, 0, 0], [2, 1, 0, 65, 1, 0, 65, 1, 2],
      [2, 1, 0, 65, 1, 0, 66, 2, 1], [2, 1, 0, 65, 1, 0, 66, 1, 1], [1, 1, 0, 0xFF, 1, 1], [1, 9, 0, 65, 1, 1],
    ] { #expect(throws: CryptoError.self, "\(bytes)") { try decode(bytes) } }
  }
}

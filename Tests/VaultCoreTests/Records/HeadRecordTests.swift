import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite struct HeadRecordTests {
  private func decode(_ bytes: [UInt8]) throws(CryptoError) -> HeadRecord {
    try bytes.lend { (bytes: RawSpan) throws(CryptoError) in try HeadRecord(decoding: bytes) }
  }

  @Test("A head reads back as it was, whatever it holds") func roundTrip() throws {
    for head in try HeadRecord.examples() {
      let bytes = head.encoded()
      #expect(bytes.count == head.encodedCount)
      #expect(try decode(bytes.array) == head)
    }
  }

  @Test("Every kind, class and requirement has its own place in the encoding") func enumerations() throws {
    var seen: Set<[UInt8]> = []
    for kind in ItemKind.allCases {
      for accessible in AccessClass.allCases {
        for require in Requirement.allCases {
          var head = try HeadRecord.examples()[0]
          head.item.kind = kind
          head.item.policy = Policy(accessible: accessible, require: require, reuseWindow: 5)
          let bytes = head.encoded().array
          seen.insert(bytes)
          #expect(try decode(bytes) == head)
        }
      }
    }
    #expect(seen.count == ItemKind.allCases.count * 3 * 4)
    #expect(ItemKind(code: 0) == nil && ItemKind(code: 12) == nil)
  }

  @Test("The encoding of a known head is known, so that a store stays readable") func fixed() throws {
    let head = HeadRecord(
      item: ItemInfo(
        name: try ItemName("a/b"), kind: .apiKey, attributes: ["owner": "ana", "env": "x"],
        policy: Policy(accessible: .afterFirstUnlock, require: .password, reuseWindow: 60), created: 1, modified: 2,
        expires: 3, versions: [VersionInfo(number: 4, created: 5, size: 6)]), policyRevision: 7, headRevision: 8,
      nextVersion: 9, digests: [[].lend { Digest(of: $0) }])
    let expected =
      "01" + "02" + "02" + "03" + "3c000000" + "0700000000000000" + "0800000000000000" + "0100000000000000"
      + "0200000000000000" + "01" + "0300000000000000" + "0300" + "612f62" + "0200" + "03" + "656e76" + "0100" + "78"
      + "05" + "6f776e6572" + "0300" + "616e61" + "0400000000000000" + "0900000000000000" + "0100" + "0400000000000000"
      + "0500000000000000" + "06000000" + "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8" + "0000"
    #expect(head.encoded().array == hex(expected))
  }

  @Test("A head has no room for fields beyond the size that two bytes state, and says so") func full() throws {
    var head = try HeadRecord.examples()[0]
    head.item.trashed = nil
    head.extensions = Extensions([(100, [UInt8](repeating: 1, count: 1 << 16 - 4))])
    var known = head
    (known.item.creator, known.item.statedUse, known.item.publicKey) = (nil, nil, nil)
    for index in known.item.versions.indices { known.item.versions[index].writer = nil }
    known.item.policy.isNeverRead = false
    #expect(try decode(known.encoded().array) == known)
    known.item.trashed = Trashed(time: 1, age: 1, number: 1)
    #expect(throws: CryptoError.limits("extension fields")) { try known.validate() }
  }

  @Test("An author longer than any that is written makes a head malformed", arguments: [0, 1, 300, 301])
  func authors(size: Int) throws {
    var item = try HeadRecord.examples()[0].item
    item.versions = [VersionInfo(number: 1, created: 5, size: 6)]
    let author = [UInt8](repeating: 97, count: size)
    let bytes = [1, UInt8(size & 0xFF), UInt8(size >> 8)] + author + [1, 0]
    if 1...300 ~= size {
      try HeadAuthors.decode(bytes, into: &item)
      #expect(item.creator?.utf8.count == size)
    } else {
      #expect(throws: CryptoError.self) { try HeadAuthors.decode(bytes, into: &item) }
    }
  }

  @Test("Every truncation and extension of a head is refused") func truncated() throws {
    for head in try HeadRecord.examples() {
      let bytes = head.encoded().array
      for count in 0..<bytes.count {
        #expect(failure { () throws(CryptoError) in _ = try decode(Array(bytes[..<count])) }?.isMalformed == true)
      }
      #expect(failure { () throws(CryptoError) in _ = try decode(bytes + [0]) }?.isMalformed == true)
    }
  }

  @Test("A flipped bit in a head makes it malformed or another head, never the same one, and none has two encodings")
  func flipped() throws {
    for head in try HeadRecord.examples() {
      let bytes = head.encoded().array
      for bit in 0..<bytes.count * 8 {
        let changed = bytes.flipping(bit: bit)
        guard let other = try? decode(changed) else { continue }
        #expect(other != head, "bit \(bit)")
        #expect(other.encoded().array == changed, "bit \(bit)")
      }
    }
  }

  @Test(
    "The highest number anywhere in a head makes it malformed or another head",
    arguments: [Int64.max, .max - 1, 1 << 53, 1 << 53 + 1, .min, -1])
  func numbers(number: Int64) throws {
    for head in try HeadRecord.examples() {
      let bytes = head.encoded().array
      for start in 0...bytes.count - 8 {
        let changed =
          Array(bytes[..<start]) + (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
          + Array(bytes[(start + 8)...])
        guard let other = try? decode(changed) else { continue }
        #expect(other.encoded().array == changed, "byte \(start)")
        #expect(max(other.headRevision, other.policyRevision, other.nextVersion) <= HeadRecord.lastNumber)
      }
    }
  }

  @Test("Every flipped bit of a sealed head is refused") func sealed() throws {
    let key = RandomBytes.secret(count: 32)
    let place = AssociatedData(
      vault: .random(), table: .heads, item: .random(), version: 0, accessible: .whenUnlocked, policyRevision: 1)
    let sealed = try HeadRecord.examples()[1].encoded().withBytes { AEAD.seal($0, key: key, associatedData: place) }
    func opens(_ bytes: [UInt8]) -> Bool {
      failure { () throws(CryptoError) in
        _ = try bytes.lend { (bytes: RawSpan) throws(CryptoError) in
          try AEAD.open(bytes, key: key, associatedData: place)
        }
      } == nil
    }
    #expect(opens(sealed))
    for bit in 0..<sealed.count * 8 { #expect(!opens(sealed.flipping(bit: bit))) }
  }

  @Test("Sizes that promise more than is there take no memory and are refused") func absurdSizes() throws {
    let bytes = try HeadRecord.examples()[0].encoded().array
    // The name's size stands after the fixed part of 41 bytes, and the number of versions 52 + 2 + 2 bytes before the
    // end.
    for place in [41, bytes.count - 56] {
      var copy = bytes
      copy[place] = 0xFF
      copy[place + 1] = 0xFF
      #expect(failure { () throws(CryptoError) in _ = try decode(copy) }?.isMalformed == true)
    }
  }

  @Test("A head names as many versions as can be looked at at once, and no more are read") func mostVersions() throws {
    func head(_ count: Int) throws -> HeadRecord {
      var head = try HeadRecord.examples()[0]
      head.item.versions = (1...count).map { VersionInfo(number: $0, created: 1, size: 1) }
      head.digests = (1...count).map { _ in [UInt8]().withSpan { Digest(of: $0) } }
      head.nextVersion = count + 1
      return head
    }
    let most = HeadRecord.mostVersions
    #expect(try decode(head(most).encoded().array).digests.count == most)
    let tooMany = try head(most + 1)
    #expect(failure { () throws(CryptoError) in try tooMany.validate() }?.isLimits == true)
    // A record with one version more than allowed, as a writer that ignores the limit would make it.
    let (longest, shorter) = (try head(most).encoded().array, try head(most - 1).encoded().array)
    let version = longest.count - shorter.count
    let count = try #require(longest.indices.last { longest[$0] == most && $0 < longest.count - most * version })
    var more = longest
    let last = more[(count + 2 + (most - 1) * version)..<(count + 2 + most * version)]
    more.insert(contentsOf: last, at: count + 2 + most * version)
    (more[count], more[count + 2 + most * version]) = (UInt8(most + 1), UInt8(most + 1))
    for place in [count - 8, count - 16] { more[place] += 1 }
    #expect(failure { () throws(CryptoError) in _ = try decode(more) }?.isMalformed == true)
  }

  @Test("Names and attributes outside of the rules are refused when read") func badText() throws {
    func patched(_ from: String, _ to: String) throws -> [UInt8] {
      var bytes = try HeadRecord.examples()[1].encoded().array
      let place = try #require(
        bytes.indices.first { bytes[$0...].starts(with: from.utf8) })
      bytes.replaceSubrange(place..<place + from.utf8.count, with: Array(to.utf8))
      return bytes
    }
    for (from, to) in [("iothome/", "iothom//"), ("iothome", "../home"), ("iothome", "iothom\n"), ("owner", "zwner")] {
      let bytes = try patched(from, to)
      #expect(failure { () throws(CryptoError) in _ = try decode(bytes) }?.isMalformed == true, "\(to)")
    }
    var bytes = try patched("iothome", "iothome")
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: "iothome".utf8) })
    bytes[place] = 0xFF  // Never in UTF-8.
    #expect(failure { () throws(CryptoError) in _ = try decode(bytes) }?.isMalformed == true)
  }

  @Test("A head that could not be read back is told") func badHeads() throws {
    let good = try HeadRecord.examples()[1]
    func refused(_ change: (inout HeadRecord) -> Void) -> Bool {
      var head = good
      change(&head)
      return failure { () throws(CryptoError) in try head.validate() }?.isLimits == true
    }
    #expect(!refused { _ in })
    #expect(refused { $0.item.attributes["k"] = String(repeating: "x", count: 1025) })
    #expect(refused { $0.item.attributes[String(repeating: "k", count: 129)] = "x" })
    #expect(refused { $0.item.attributes[""] = "x" })
    #expect(refused { $0.item.attributes["é"] = "x" })
    #expect(refused { for index in 0..<65 { $0.item.attributes["k\(index)"] = "" } })
    #expect(refused { $0.policyRevision = 0 })
    #expect(refused { $0.headRevision = -1 })
    #expect(refused { $0.nextVersion = $0.item.current.number })
    #expect(refused { $0.item.versions[0].number = 0 })
    #expect(refused { $0.item.versions[0].size = -1 })
    #expect(refused { $0.item.versions[0].size = 1 << 32 })
    #expect(refused { $0.item.versions.append($0.item.versions[0]) })
    #expect(refused { $0.digests.removeLast() })
  }

  @Test("Fields of a later program survive a rewrite, unless they change the meaning of the rest") func extensions()
    throws
  {
    let bytes = try HeadRecord.examples()[0].encoded().array
    func with(_ fields: [UInt8]) -> [UInt8] { bytes[..<(bytes.count - 2)] + [UInt8(fields.count), 0] + fields }
    let kept = with([9, 1, 0, 0x55, 127, 0, 0])
    var head = try decode(kept)
    #expect(head.encoded().array == kept)
    head.item.modified += 1
    #expect(head.encoded().array.suffix(9) == kept.suffix(9))
    for fields in [[128, 0, 0], [129, 0, 0], [255, 0, 0], [2, 0, 0, 1, 0, 0], [1, 1, 0], [1]] as [[UInt8]] {
      #expect(failure { () throws(CryptoError) in _ = try decode(with(fields)) }?.isMalformed == true)
    }
  }

  @Test("A head says that its key is never read in a field that an earlier program refuses, and in one way alone")
  func neverRead() throws {
    var head = try HeadRecord.examples()[0]
    (head.item.kind, head.item.statedUse, head.item.publicKey) = (.sshKey, nil, nil)
    let plain = head.encoded().array
    head.item.policy.isNeverRead = true
    let bytes = head.encoded().array
    #expect(bytes == plain.dropLast(2) + [3, 0, 128, 0, 0])
    let read = try decode(bytes)
    #expect(read == head && read.item.policy.isNeverRead && read.encoded().array == bytes)
    // The field with content, and the field twice.
    for fields in [[4, 0, 128, 1, 0, 1], [6, 0, 128, 0, 0, 128, 0, 0]] as [[UInt8]] {
      #expect(failure { () throws(CryptoError) in _ = try decode(plain.dropLast(2) + fields) }?.isMalformed == true)
    }
    // An earlier program knows no field from 128 on, in any record.
    let fault = failure { () throws(CryptoError) in
      try bytes.lend { (bytes: RawSpan) throws(CryptoError) in
        var reader = ByteReader()
        _ = try reader.range(bytes.byteCount - 5, bytes)
        _ = try Extensions(&reader, bytes)
      }
    }
    #expect(fault?.isMalformed == true)
    head.item.kind = .note
    #expect(failure { () throws(CryptoError) in try head.validate() } != nil)
  }

  @Test("A head says what its key is for where the kind does not, and the key's public half, in one way alone")
  func key() throws {
    var head = try HeadRecord.examples()[0]
    for (kind, use, publicKey) in [
      (ItemKind.blob, KeyUse.jwt, [1, 2, 3]), (.tlsKey, .sign, [7]), (.password, .mac, nil), (.sshKey, nil, [5, 6]),
    ] as [(ItemKind, KeyUse?, [UInt8]?)] {
      (head.item.kind, head.item.statedUse, head.item.publicKey) = (kind, use, publicKey)
      let read = try decode(head.encoded().array)
      #expect(read == head && read.item.use == (use ?? kind.use))
      #expect(read.encoded().array == head.encoded().array)
    }
    (head.item.kind, head.item.statedUse, head.item.publicKey) = (.sshKey, nil, nil)
    let plain = head.encoded().array
    func with(_ fields: [UInt8]) -> [UInt8] { plain[..<(plain.count - 2)] + [UInt8(fields.count), 0] + fields }
    #expect(try decode(with([3, 2, 0, 0, 5])).item.publicKey == [5])
    // A use that the item's kind already implies, a use with a kind of its own, an unknown use, and no use at all.
    for fields in [[3, 1, 0, 1], [3, 1, 0, 2], [3, 1, 0, 5], [3, 1, 0, 99], [3, 1, 0, 0], [3, 0, 0]] as [[UInt8]] {
      #expect(failure { () throws(CryptoError) in _ = try decode(with(fields)) }?.isMalformed == true, "\(fields)")
    }
  }

  @Test("A head in the trash says since when, beside the fields of a later program") func trashed() throws {
    let bytes = try HeadRecord.examples()[0].encoded().array
    let later: [UInt8] = [9, 1, 0, 0x55]
    var head = try decode(bytes[..<(bytes.count - 2)] + [UInt8(later.count), 0] + later)
    #expect(head.item.trashed == nil)
    head.item.trashed = Trashed(time: -2, age: 1 << 40)
    #expect(head.encoded().array.count == head.encodedCount)
    #expect(try decode(head.encoded().array) == head)
    head.item.trashed = nil
    #expect(head.encoded().array.suffix(6) == [4, 0] + later)
    for count in [0, 15, 17] {
      let field = [1, UInt8(count), 0] + [UInt8](repeating: 0, count: count)
      let wrong = bytes[..<(bytes.count - 2)] + [UInt8(field.count), 0] + field
      #expect(failure { () throws(CryptoError) in _ = try decode(wrong) }?.isMalformed == true)
    }
  }

  @Test("A head in the trash has the number of its deletion, which means nothing without the field of the trash")
  func deletion() throws {
    var head = try HeadRecord.examples()[0]
    let bytes = head.encoded().array
    for number in [1, 0x0102, Int64(HeadRecord.lastNumber)] {
      head.item.trashed = Trashed(time: 5, age: 6, number: number)
      #expect(head.encoded().array.count == head.encodedCount)
      #expect(try decode(head.encoded().array) == head)
    }
    for number in [-1, Int64(HeadRecord.lastNumber) + 1] {
      head.item.trashed = Trashed(time: 5, age: 6, number: number)
      #expect(throws: CryptoError.self) { try head.validate() }
    }
    func with(_ fields: [UInt8]) -> [UInt8] { bytes[..<(bytes.count - 2)] + [UInt8(fields.count), 0] + fields }
    let trash = [1, 16, 0] + [UInt8](repeating: 0, count: 16)
    #expect(try decode(with(trash)).item.trashed == Trashed(time: 0, age: 0))
    for content in [[], [1], [0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0xFF], [1, 0, 0, 0, 0, 0, 0, 0, 0]]
      as [[UInt8]]
    {
      let wrong = with(trash + [4, UInt8(content.count), 0] + content)
      #expect(failure { () throws(CryptoError) in _ = try decode(wrong) }?.isMalformed == true, "\(content)")
    }
    // An earlier program has taken the item out of the trash and left the field; the next deletion replaces the field.
    let left: [UInt8] = [4, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0]
    var out = try decode(with(left))
    #expect(out.item.trashed == nil && out.encoded().array == with(left))
    out.item.trashed = Trashed(time: 5, age: 6, number: 9)
    #expect(try decode(out.encoded().array).item.trashed == out.item.trashed)
  }

  @Test("A kept version is found by its number") func versions() throws {
    let head = try HeadRecord.examples()[2]
    for (version, digest) in zip(head.item.versions, head.digests) {
      let found = try #require(head.version(version.number))
      #expect(found.info == version && found.digest == digest)
    }
    #expect(head.version(0) == nil)
    #expect(head.version(head.nextVersion) == nil)
  }
}

extension HeadRecord {
  /// Makes a plain head, a head with all fields, a head with many versions, and a head with facts for a keyring.
  static func examples() throws -> [HeadRecord] {
    func head(
      _ name: String, _ kind: ItemKind, _ attributes: [String: String], _ policy: Policy, expires: Int64?,
      versions: [Int]
    ) throws -> HeadRecord {
      HeadRecord(
        item: ItemInfo(
          name: try ItemName(name), kind: kind, attributes: attributes, policy: policy, created: 1_700_000_000,
          modified: 1_700_000_100, expires: expires,
          versions: versions.map { VersionInfo(number: $0, created: Int64($0) * 1000, size: $0 * 10) }),
        policyRevision: 2, headRevision: versions.count, nextVersion: versions[versions.count - 1] + 1,
        digests: versions.map { version in [UInt8(version)].lend { Digest(of: $0) } })
    }
    var keyring = try head("secret-service/login/x", .password, ["k": "v"], Policy(), expires: nil, versions: [1, 2])
    keyring.item.keyring = KeyringFacts(
      id: KeyringID(number: 0x1234), order: 5, label: "a\n", contentType: "t",
      attributes: try KeyringAttributes([
        (key: "", value: ""), (key: "\u{e9}", value: "\t"), (key: "e\u{301}", value: "b"),
      ]), created: 1_600_000_000)
    return [
      try head("x", .password, [:], Policy(), expires: nil, versions: [1]),
      try head(
        "iothome/schlüssel.key", .deviceToken, ["owner": "ana", "site": "Zürich", "empty": "", "own": "x"],
        Policy(accessible: .always, require: .biometry, reuseWindow: .max), expires: 1_900_000_000, versions: [7]),
      try head("many/versions", .blob, ["k": "v"], Policy(), expires: -1, versions: [1, 3, 4, 90]),
      keyring,
    ]
  }
}

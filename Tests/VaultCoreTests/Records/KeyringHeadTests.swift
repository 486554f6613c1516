import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite("A head with facts for a keyring's clients") struct KeyringHeadTests {
  private func decode(_ bytes: [UInt8]) throws(CryptoError) -> HeadRecord {
    try bytes.lend { (bytes: RawSpan) throws(CryptoError) in try HeadRecord(decoding: bytes) }
  }

  private func isMalformed(_ bytes: [UInt8]) -> Bool {
    failure { () throws(CryptoError) in _ = try decode(bytes) }?.isMalformed == true
  }

  private static func attributes(_ pairs: (String, String)...) throws(ValueError) -> KeyringAttributes {
    try KeyringAttributes(pairs.map { (key: $0.0, value: $0.1) })
  }

  private func head(_ facts: KeyringFacts?) throws -> HeadRecord {
    var head = try HeadRecord.examples()[0]
    head.item.keyring = facts
    return head
  }

  /// A 32-bit number, little-endian.
  private func four(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

  /// The section of facts without attributes, which is followed by the given number of attributes and the times.
  private func section(
    label: String = "", type: [UInt8] = [0], count: Int, _ texts: [[UInt8]], times: [UInt8] = [0, 0]
  ) throws -> [UInt8] {
    let plain = try head(nil).encoded().array
    let facts = [UInt8](repeating: 1, count: 16) + type + four(label.utf8.count) + Array(label.utf8)
    let all = texts.reduce([UInt8(count & 0xFF), UInt8(count >> 8)]) { $0 + four($1.count) + $1 }
    return [2] + plain[1..<(plain.count - 2)] + facts + all + times + [0, 0]
  }

  @Test("The encoding of known facts is known, so that a store stays readable") func fixed() throws {
    let plain = try head(nil).encoded().array
    let facts = KeyringFacts(
      id: KeyringID(number: 0x0102_0304_0506_0708), order: 0xFFFE_0000_0000_0003, label: "Lab\n",
      contentType: "text/plain",
      attributes: try Self.attributes(("b", ""), ("a", "xy")))
    let section =
      "0807060504030201" + "030000000000feff" + "0a" + "746578742f706c61696e" + "04000000" + "4c61620a" + "0200"
      + "01000000" + "61" + "02000000" + "7879" + "01000000" + "62" + "00000000"
      + "0000"
    let bytes = try head(facts).encoded().array
    #expect(bytes == [2] + plain[1..<(plain.count - 2)] + hex(section) + [0, 0])
    #expect(try decode(bytes).item.keyring == facts)
    var old = facts
    (old.created, old.modified) = (1_700_000_000, 253_402_300_799)
    let times = try head(old).encoded().array
    #expect(times == bytes.dropLast(4) + hex("0100f1536500000000" + "017f41f4ff3a000000") + [0, 0])
    #expect(try decode(times).item.keyring == old)
    // Without facts, a head is as it was before there were any.
    #expect(plain[0] == 1 && isMalformed([2] + plain.dropFirst()) && isMalformed([1] + bytes.dropFirst()))
  }

  @Test("Facts read back byte by byte, whatever they hold") func roundTrip() throws {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let most = try KeyringAttributes(
      (0..<256).map { (key: "\($0)", value: String(repeating: "v", count: 256 - "\($0)".utf8.count)) })
    for (label, type, attributes) in [
      ("", "", KeyringAttributes()), ("\t\r\n\u{1}\u{7f}", "text/plain; charset=utf8\n", try Self.attributes(("", ""))),
      (decomposed, composed, try Self.attributes((composed, decomposed), (decomposed, composed))),
      ("", String(repeating: "t", count: 255), most), (String(repeating: "l", count: 65_536), "", KeyringAttributes()),
      ("🔑", "", try Self.attributes(("xdg:schema", "org.gnome.keyring.Note"), ("name", "a\tb"), ("version", "\n"))),
    ] {
      for (id, order) in [(0, 0), (.max, .max), (1 << 63, 1)] as [(UInt64, UInt64)] {
        var head = try head(
          KeyringFacts(
            id: KeyringID(number: id), order: order, label: label, contentType: type, attributes: attributes,
            created: id == 0 ? nil : 0, modified: order == 1 ? KeyringFacts.times.upperBound : nil))
        head.item.trashed = order == 1 ? Trashed(time: 1, age: 2, number: 3) : nil
        let bytes = head.encoded()
        #expect(bytes.count == head.encodedCount && bytes.array[0] == 2)
        let read = try decode(bytes.array)
        #expect(read == head && read.encoded().array == bytes.array)
        let scratch = Scratch()
        head.encode(into: scratch)
        #expect(scratch.withBytes { scratch in bytes.array.lend { $0.byteCount == scratch.byteCount } })
      }
    }
  }

  @Test("Facts outside of the rules are refused when read, and none has two encodings") func damaged() throws {
    func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }
    let long = String(repeating: "x", count: 65_536)
    let good: [[UInt8]] = try [
      section(count: 0, []), section(count: 2, texts("a", "", "b", "")), section(count: 1, texts("", long)),
      section(label: long, count: 1, texts("", "")), section(type: [1, 0x61], count: 0, []),
      section(count: 0, [], times: [1] + [UInt8](repeating: 0, count: 8) + [0]),
      section(count: 0, [], times: [0, 1, 1] + [UInt8](repeating: 0, count: 7)),
    ]
    for bytes in good { #expect(try decode(bytes).encoded().array == bytes) }
    var many: [[UInt8]] = []
    for number in 0..<257 { many += texts(String(1000 + number), "") }
    let bad: [[UInt8]] = try [
      // Out of order, twice, in the order of characters but not of bytes.
      section(count: 2, texts("b", "", "a", "")), section(count: 2, texts("a", "1", "a", "2")),
      section(count: 2, texts("\u{e9}", "", "e\u{301}", "")),
      // NUL, text that is not UTF-8.
      section(count: 1, texts("a\0", "")), section(count: 1, texts("a", "\0")), section(label: "\0", count: 0, []),
      section(type: [1, 0], count: 0, []), section(type: [1, 0xFF], count: 0, []),
      section(count: 1, [[0xC3], []]), section(count: 1, [[0x61], [0xED, 0xA0, 0x80]]),
      // Too much.
      section(count: 257, many), section(count: 1, texts("k", long)), section(label: long, count: 1, texts("k", "")),
      section(label: long + "x", count: 0, []),
      // Times that are cut off or out of range, and one that is neither there nor absent.
      section(count: 0, [], times: [0]), section(count: 0, [], times: [1, 0]), section(count: 0, [], times: [2, 0]),
      section(count: 0, [], times: [0, 1] + [UInt8](repeating: 0xFF, count: 8)),
      section(count: 0, [], times: [1] + [UInt8](repeating: 0x7F, count: 8) + [0]),
      // A wrong number of attributes.
      section(count: 1, []), section(count: 0, texts("a", "")), section(count: 0xFFFF, texts("a", "")),
    ]
    for (index, bytes) in bad.enumerated() { #expect(isMalformed(bytes), "\(index)") }
    #expect(try decode(section(count: 256, Array(many.dropLast(2)))).item.keyring?.attributes.entries.count == 256)
    // A size that promises more than is there takes no memory.
    var greedy = try section(label: "label", count: 0, [])
    let place = try #require(greedy.indices.first { greedy[$0...].starts(with: [5, 0, 0, 0, 0x6C]) })
    for size in [[0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 1, 0], [6, 0, 0, 0]] as [[UInt8]] {
      greedy.replaceSubrange(place..<place + 4, with: size)
      #expect(isMalformed(greedy))
    }
  }

  @Test("This program refuses a head of a third version, and facts that could not be read back") func refused() throws {
    let bytes = try head(KeyringFacts(id: KeyringID(number: 1), order: 1)).encoded().array
    for version in [0, 3, 4, 255] as [UInt8] {
      #expect(isMalformed([version] + bytes.dropFirst()))
      #expect(try isMalformed([version] + head(nil).encoded().array.dropFirst()))
    }
    let long = String(repeating: "x", count: 65_537)
    for (label, type) in [(long, ""), ("", String(long.prefix(256))), ("\0", ""), ("", "\0")] {
      let head = try head(KeyringFacts(id: KeyringID(number: 1), order: 1, label: label, contentType: type))
      #expect(failure { () throws(CryptoError) in try head.validate() }?.isLimits == true)
    }
    for (created, modified) in [(-1, nil), (nil, 253_402_300_800)] as [(Int64?, Int64?)] {
      let head = try head(KeyringFacts(id: KeyringID(number: 1), order: 1, created: created, modified: modified))
      #expect(failure { () throws(CryptoError) in try head.validate() }?.isLimits == true)
    }
  }

  @Test("Random numbers for a keyring differ") func random() { #expect(KeyringID.random() != KeyringID.random()) }
}

import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("Compressed data") struct InflateTests {
  private func gunzip(_ bytes: [UInt8], limit: ExpansionLimit = ExpansionLimit()) throws(ImportFailure) -> [UInt8] {
    var stream = try Gunzip(SliceStream(bytes[...]), limit: limit)
    var found: [UInt8] = []
    while let piece = try stream.next() { found += piece }
    return found
  }

  private func inflate(_ hex: String) throws(ImportFailure) -> String {
    var stream = Inflate(SliceStream(([UInt8](hex: hex) ?? [])[...]))
    var found: [UInt8] = []
    while let piece = try stream.next() { found += piece }
    return String(decoding: found, as: UTF8.self)
  }

  @Test("are expanded from blocks of all kinds") func blocks() throws {
    // zlib made these: one that is not compressed, and others with the fixed codes.
    #expect(try inflate("010500faff68656c6c6f") == "hello")
    #expect(try inflate("cb48cdc9c90700") == "hello")
    #expect(try inflate("4b4c840100") == "aaaaaaaaaa")
    #expect(try inflate("0300") == "")
    // A repetition of 258 bytes at the distance 1.
    #expect(try inflate("4b1c0500") == String(repeating: "a", count: 259))
    // Codes of its own.
    let text = (0..<300).map { String(Unicode.Scalar(UInt8($0 % 7 * 3))) }.joined()
    #expect(try inflate("636066e3e4e1176218a5085300") == text)
  }

  @Test("of gzip are expanded and checked") func files() throws {
    let short = String(decoding: try gunzip(try KDBXStand.file("deflate-short.gz")), as: UTF8.self)
    #expect(short.hasPrefix("the quick brown fox jumps over the lazy dog, the quick brown fox the quick"))
    // Codes of up to 15 bits: the 24 bytes occur as often as the numbers of Fibonacci say.
    let long = try gunzip(try KDBXStand.file("deflate-long-codes.gz"))
    var checksum = CRC32()
    checksum.add(long[...])
    #expect(long.count == 121_392 && checksum.value == 3_369_923_744)
    #expect(try gunzip(SealedDatabase.gzip([])) == [])
    let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    #expect(try gunzip(SealedDatabase.gzip(large)) == large)
  }

  @Test("are refused when they are cut off anywhere") func cut() throws {
    let bytes = try KDBXStand.file("deflate-short.gz")
    for count in 0..<bytes.count { #expect(throws: ImportFailure.self) { try gunzip(Array(bytes[..<count])) } }
  }

  @Test("are refused for a flipped bit behind the header, or give the same") func flipped() throws {
    let bytes = try KDBXStand.file("deflate-short.gz")
    let whole = try gunzip(bytes)
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      let found = try? gunzip(flipped)
      #expect(found == nil || found == whole)
    }
  }

  @Test(
    "are refused if they break the rules",
    arguments: [
      "", "07", "00", "010500fffff0", "4b8402", "e3ffff", "04c0810000000000000000", "05e0810000000000",
      "fc00000000000000000000",
    ])
  func broken(hex: String) { #expect(throws: ImportFailure.self) { try inflate(hex) } }

  @Test("are refused if they become too large") func bombs() throws {
    let zeros = SealedDatabase.gzip(Array(repeating: 0, count: 100_000))
    #expect(try gunzip(zeros, limit: ExpansionLimit(bytes: 100_000)).count == 100_000)
    #expect(throws: ImportFailure.self) { try gunzip(zeros, limit: ExpansionLimit(bytes: 99_999)) }
    // A repetition that makes 259 bytes of four.
    let repeated: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 0x1C, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    let failure = #expect(throws: ImportFailure.self) {
      try gunzip(repeated, limit: ExpansionLimit(ratio: 10, free: 200))
    }
    #expect(failure?.code == .tooLarge)
  }

  @Test("have the published checksum") func checksum() {
    var checksum = CRC32()
    checksum.add(Array("123456789".utf8)[...])
    #expect(checksum.value == 0xCBF4_3926)
  }
}

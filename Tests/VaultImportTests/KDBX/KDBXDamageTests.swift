import Testing
import VaultWire

@testable import VaultImport

@Suite("Damaged and hostile databases") struct KDBXDamageTests {
  private static let files = ["keepass-31-salsa20.kdbx", "file-kdbx-41-chacha20.kdbx", "kpcli-30.kdbx"]

  @Test("are refused when they are cut off anywhere") func cut() throws {
    let sealed = try SealedDatabase.bytes(SealedDatabase.document("<Entry/>"), isCompressed: true)
    for bytes in [try KDBXStand.file("kpcli-30.kdbx"), sealed] {
      for count in 0..<bytes.count {
        #expect(KDBXStand.failure(Array(bytes[..<count])) != nil, "the first \(count) bytes")
      }
    }
  }

  @Test("never crash the reader, whatever bit is flipped", arguments: files) func flipped(file: String) throws {
    let bytes = try KDBXStand.file(file)
    for bit in stride(from: 0, to: bytes.count * 8, by: 53) {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      // A longer derivation of the key is not tried here.
      if (try? Self.derivation(flipped)) != (try? Self.derivation(bytes)) { continue }
      _ = KDBXStand.failure(flipped)
    }
  }

  private static func derivation(_ bytes: [UInt8]) throws -> String {
    try KDBXHeader(bytes).derivation(mostMemory: Source.usualKDFMemory).text
  }

  @Test("of KDBX 4 are refused for each flipped bit behind the header") func authenticated() throws {
    let bytes = try SealedDatabase.bytes(SealedDatabase.document("<Entry/>"), isCompressed: true)
    #expect(KDBXStand.failure(bytes) == nil)
    for bit in 12 * 8..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(KDBXStand.failure(flipped) != nil, "bit \(bit)")
    }
  }

  @Test(
    "do not make the reader take too much time or memory for the key",
    arguments: [
      (
        SealedDatabase.argon2(memory: 2 << 30, passes: 1, lanes: 1),
        "2 GiB of memory to make its key, and the limit is 1 GiB; --kdf-memory 2048m raises it"
      ),
      (SealedDatabase.argon2(memory: 1 << 30 + 1024, passes: 1, lanes: 1), "; --kdf-memory 1025m raises it"),
      (SealedDatabase.argon2(memory: .max, passes: 1, lanes: 1), "and the highest limit is 4 GiB"),
      (SealedDatabase.argon2(memory: 1 << 30, passes: 65, lanes: 1), "1 GiB, 65 passes and 1 lane"),
      (SealedDatabase.argon2(memory: 1 << 20, passes: .max, lanes: 1), "passes and 1 lane"),
      (SealedDatabase.argon2(memory: 1 << 30, passes: 1, lanes: 2000), "2000 lanes"),
      (SealedDatabase.aes(rounds: 1 << 31 + 1), "2147483649 rounds of AES-KDF"),
    ])
  func costs(derivation: [UInt8], text: String) throws {
    let bytes = try SealedDatabase.bytes(SealedDatabase.document(""), derivation: derivation)
    let failure = try #require(KDBXStand.failure(bytes))
    #expect(failure.code == .tooLarge && failure.reason.contains(text), "\(failure.reason)")
  }

  @Test(
    "have parameters of Argon2 that are possible",
    arguments: [
      SealedDatabase.argon2(memory: 0, passes: 1, lanes: 1),
      SealedDatabase.argon2(memory: 1 << 20, passes: 0, lanes: 1),
      SealedDatabase.argon2(memory: 1 << 20, passes: 1, lanes: 0),
      SealedDatabase.argon2(memory: 1 << 20, passes: 1, lanes: 200), SealedDatabase.dictionary([]),
    ])
  func parameters(derivation: [UInt8]) throws {
    let bytes = try SealedDatabase.bytes(SealedDatabase.document(""), derivation: derivation)
    #expect(KDBXStand.failure(bytes)?.code == .damaged)
  }

  @Test("of other formats are told apart") func others() throws {
    let signature = KDBXHeader.signature
    #expect(KDBXStand.failure([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5])?.code == .unsupported)
    #expect(KDBXStand.failure(signature + [0, 0, 5, 0])?.code == .unsupported)
    #expect(KDBXStand.failure(signature + [0, 0])?.code == .damaged)
    #expect(KDBXStand.failure(Array("<?xml".utf8))?.code == .unknown)
    let old = Source([.init("x", [0x03, 0xD9, 0xA2, 0x9A, 0x65])]) { _ throws(ImportFailure) in nil }
    #expect(KDBXReader.recognizes(old))
    let other = Source([.init("x", Array("name,password".utf8))]) { _ throws(ImportFailure) in nil }
    #expect(!KDBXReader.recognizes(other))
  }

  @Test(
    "have a document of KeePass without a type declaration",
    arguments: [
      "", "<a/>", "<KeePassFile>", "<!DOCTYPE x [<!ENTITY a \"aa\">]><KeePassFile>&a;</KeePassFile>",
      "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><KeePassFile/>", String(repeating: "<a>", count: 100_000),
      "<KeePassFile><a b=\"\(String(repeating: "x", count: 3 << 20))\"/></KeePassFile>",
      SealedDatabase.document("<Entry><String><Key>k</Key><Value Protected=\"True\">?</Value></String></Entry>"),
    ])
  func documents(document: String) throws {
    #expect(KDBXStand.failure(try SealedDatabase.bytes(document))?.code == .damaged)
  }

  @Test("have inner headers that end") func innerHeaders() throws {
    let longest: [UInt8] = [255, 255, 255, 255]
    let contents: [[UInt8]] = [[], [1] + longest, [3] + longest + [0, 0], [3, 0, 0, 0, 0], [9] + longest, [0]]
    for content in contents { #expect(KDBXStand.failure(try SealedDatabase.seal(content))?.code == .damaged) }
  }

  @Test("do not multiply an attachment that many entries share without end") func shared() throws {
    let binary = Array(repeating: UInt8(1), count: 1 << 20)
    let entry = "<Entry><Binary><Key>k</Key><Value Ref=\"0\"/></Binary></Entry>"
    let document = SealedDatabase.document(String(repeating: entry, count: 1025))
    #expect(KDBXStand.failure(try SealedDatabase.bytes(document, binaries: [binary]))?.code == .tooLarge)
  }
}

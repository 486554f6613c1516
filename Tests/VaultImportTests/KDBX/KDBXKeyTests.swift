import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("The keys of KeePass databases") struct KDBXKeyTests {
  @Test("come from key files of all forms") func keyFiles() throws {
    let raw = Array(UInt8(0)..<32)
    #expect(try KDBXKeyFile.key(raw) == raw)
    #expect(try KDBXKeyFile.key(Array(raw.hex.uppercased().utf8)) == raw)
    let other = Array("some file".utf8)
    #expect(try KDBXKeyFile.key(other) == KDBXDigest.sha256(other[...]))
    // 64 characters that are no digits.
    let letters = Array(String(repeating: "xy", count: 32).utf8)
    #expect(try KDBXKeyFile.key(letters) == KDBXDigest.sha256(letters[...]))
    #expect(try KDBXKeyFile.key([]) == KDBXDigest.sha256([]))
    let first = try KDBXKeyFile.key(try KDBXStand.file("keepass-1.keyx"))
    #expect(first.base64 == "BDi0Zl8XkQ62TddzC7inHdMP7jbJJbqdE9NE+u+0fS0=")
    let second = try KDBXKeyFile.key(try KDBXStand.file("keepass-2.keyx"))
    #expect(second.hex == "cc9d7651fc860c491a7298486da92d665a1207850f59b1cd2e760371ae1fd835")
  }

  @Test("do not come from a key file with a wrong checksum") func damagedKeyFile() throws {
    let text = String(decoding: try KDBXStand.file("keepass-2.keyx"), as: UTF8.self)
    let damaged = text.replacing("CC9D7651", with: "CC9D7652")
    #expect(throws: ImportFailure.self) { try KDBXKeyFile.key(Array(damaged.utf8)) }
    // An XML file of another kind is a file like any other.
    let other = Array("<a/>".utf8)
    #expect(try KDBXKeyFile.key(other) == KDBXDigest.sha256(other[...]))
  }

  @Test("are asked for again three times") func again() throws {
    let bytes = try SealedDatabase.bytes(SealedDatabase.document(""))
    var questions: [ImportQuestion] = []
    func read(_ answers: [String?]) -> ImportFailure? {
      questions = []
      var answers = answers[...]
      do throws(ImportFailure) {
        _ = try ReadEntries(KDBXReader.self, [Source.File("x", bytes)]) { question in
          questions.append(question)
          guard question.kind == .password else { return nil }
          return (answers.popFirst() ?? nil).map { Array($0.utf8) }
        }
        return nil
      } catch { return error }
    }
    #expect(read(["pw"]) == nil && questions.count == 2)
    #expect(read(["a", "b", "c", "pw"]) == nil)
    #expect(questions.filter { $0.kind == .password }.map(\.isAgain) == [false, true, true, true])
    #expect(read(["a", "b", "c", "d", "pw"])?.code == .wrongSecret)
    #expect(read(["a", nil])?.code == .wrongSecret)
    #expect(read([nil])?.code == .noSecret)
  }

  @Test("are made by Argon2 as its RFC says") func argon2() throws {
    // The reference implementation gave these for the composite key of 32 bytes of the value 1.
    let composite = Array(repeating: UInt8(1), count: 32)
    let expectations: [(String, UInt64, String)] = [
      ("ef636ddf8c29444b91f7a9a403e30a0c", 1, "a9ab161d39477b9b2715362eabce8d9e3a7b476d1e553e09f4d4e1e423ae4c87"),
      ("ef636ddf8c29444b91f7a9a403e30a0c", 2, "96f26fa0c576d53c689bd1f042581eb14017854e4b56ead7d2ef002aae273d94"),
      ("ef636ddf8c29444b91f7a9a403e30a0c", 4, "e8d774e57c5eefb2fd5320f07ee18efe319e4e7cd3b4721a4db583b04833dbc8"),
      ("9e298b1956db4773b23dfc3ec6f0a1e6", 1, "870be2aca6af167366152b09935d79068227ebf3917a86ac96cd549f90fc8ff7"),
      ("9e298b1956db4773b23dfc3ec6f0a1e6", 2, "0e81483b46addfa5a94ca1e68b4a0b55c05d5d29e10ad9b0e9802354f91e32a5"),
      ("9e298b1956db4773b23dfc3ec6f0a1e6", 4, "a302a51470865cfd8b95541a78402828568748e89b3f83523d8eb7e9bd1d24c6"),
    ]
    for (variant, lanes, expected) in expectations {
      var items: [(type: UInt8, name: String, value: [UInt8])] = []
      items.append((0x42, "$UUID", [UInt8](hex: variant) ?? []))
      items += [(5, "M", SealedDatabase.number(256 << 10, 8)), (5, "I", SealedDatabase.number(2, 8))]
      items += [(4, "P", SealedDatabase.number(lanes, 4)), (4, "V", SealedDatabase.number(19, 4))]
      items.append((0x42, "S", Array(repeating: 2, count: 32)))
      let parameters = try KDBXVariants(SealedDatabase.dictionary(items)[...])
      let derivation = try KDBXDerivation(parameters, mostMemory: Source.usualKDFMemory)
      #expect(try derivation.key(from: composite).hex == expected)
    }
  }

  @Test("are made by as many rounds of AES as the file asks for") func aes() throws {
    // FIPS 197, appendix C.3: one round is one encryption.
    let seed = Array(UInt8(0)..<32)
    let block = (0..<16).map { UInt8($0 * 17) }
    let once = [UInt8](hex: "8ea2b7ca516745bfeafc49904b496089") ?? []
    let key = try KDBXDerivation(rounds: 1, seed: seed).key(from: block + block)
    #expect(try key == KDBXDigest.sha256(once[...], once[...]))
    // Twice 5000 rounds are 10,000, which cross the size of a step.
    var half = block
    for _ in 0..<10_000 {
      half = try KDBXCipher(.aes256, key: seed, vector: half).encrypted(Array(repeating: 0, count: 16))
    }
    #expect(
      try KDBXDerivation(rounds: 10_000, seed: seed).key(from: block + block) == KDBXDigest.sha256(half[...], half[...])
    )
  }
}

extension KDBXCipher {
  fileprivate func encrypted(_ bytes: [UInt8]) throws(ImportFailure) -> [UInt8] {
    var room = bytes
    try encrypt(bytes, into: &room)
    return room
  }
}

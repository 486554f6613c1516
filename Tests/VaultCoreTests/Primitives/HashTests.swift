import CSodium
import Testing
import VaultBytes
import VaultCore

@Suite struct HashTests {
  @Test("Keyed BLAKE2b gives the published hashes, in one piece and in three") func keyed() throws {
    for vector in try vectors("blake2b-keyed.txt") {
      let key = SecureBytes(vector["key"]!)
      let input = vector["in"]!
      let whole = input.lend { KeyedHash.hash($0, key: key, count: 64) }
      #expect(whole == vector["out"]!)
      for cut in [0, input.count / 3, input.count] {
        var parts = SecureBytes(count: 64)
        parts.withMutableBytes { out in
          input.lend { bytes in
            let rest = bytes.extracting(droppingFirst: cut)
            KeyedHash.hash(
              bytes.extracting(first: cut), rest.extracting(first: rest.byteCount / 2),
              rest.extracting(droppingFirst: rest.byteCount / 2), key: key, into: &out)
          }
        }
        #expect(parts.array == vector["out"]!)
      }
    }
  }

  @Test("Unkeyed BLAKE2b gives the RFC's hash of abc, and a digest its 32-byte form") func unkeyed() throws {
    let vectors = try vectors("blake2b-unkeyed.txt")
    let input = vectors[0]["in"]!
    var long = [UInt8](repeating: 0, count: 64)
    #expect(unsafe crypto_generichash(&long, 64, input, UInt64(input.count), nil, 0) == 0)
    #expect(long == vectors[0]["out"]!)
    let digest = input.lend { Digest(of: $0) }
    #expect(digest.withBytes { SecureBytes(copying: $0).array } == vectors[1]["out"]!)
  }

  @Test("A digest and a tag come back from their stored bytes, and from no other number of them") func stored() {
    let key = RandomBytes.secret(count: 32)
    let digest = [1, 2, 3].lend { Digest(of: $0) }
    let tag = Tag(domain: 1, "name", key: key)
    #expect(digest.withBytes { Digest($0) } == digest)
    #expect(tag.withBytes { Tag($0) } == tag)
    for count in [0, 15, 17, 31, 33] {
      #expect([UInt8](repeating: 0, count: count).lend { Digest($0) } == nil)
      #expect([UInt8](repeating: 0, count: count).lend { Tag($0) } == nil)
    }
  }

  @Test("A tag is the keyed hash of domain, lengths and parts, with a first bit that tells names from the rest")
  func tagEncoding() {
    for _ in 0..<8 {
      let key = RandomBytes.secret(count: 32)
      let encoded: [UInt8] = [5, 5, 0, 0, 0] + Array("owner".utf8) + [3, 0, 0, 0] + Array("ana".utf8)
      var expected = encoded.lend { KeyedHash.hash($0, key: key, count: 16) }
      expected[0] |= 0x80
      #expect(Tag(domain: 5, "owner", "ana", key: key).withBytes { SecureBytes(copying: $0).array } == expected)
      let name: [UInt8] = [VaultCore.Tag.names, 3, 0, 0, 0] + Array("ana".utf8)
      expected = name.lend { KeyedHash.hash($0, key: key, count: 16) }
      expected[0] &= 0x7F
      #expect(
        Tag(domain: VaultCore.Tag.names, "ana", key: key).withBytes { SecureBytes(copying: $0).array } == expected)
    }
  }

  @Test("Tags differ with the domain, the key and where the border between the parts lies") func tagsDiffer() {
    let key = RandomBytes.secret(count: 32)
    let other = RandomBytes.secret(count: 32)
    let tags: Set<VaultCore.Tag> = [
      Tag(domain: 1, "ab", "c", key: key), Tag(domain: 1, "a", "bc", key: key), Tag(domain: 1, "abc", key: key),
      Tag(domain: 1, "abc", "", key: key), Tag(domain: 1, "", "abc", key: key), Tag(domain: 2, "abc", key: key),
      Tag(domain: 1, "abc", key: other),
    ]
    #expect(tags.count == 7)
    #expect(Tag(domain: 1, "abc", key: key) == Tag(domain: 1, "abc", key: key))
  }

  @Test("Derived keys are libsodium's, and differ with id, context and parent") func subkeys() {
    let parent = RandomBytes.secret(count: 32)
    let other = RandomBytes.secret(count: 32)
    var expected = [UInt8](repeating: 0, count: 32)
    let raw = parent.array
    #expect(unsafe crypto_kdf_derive_from_key(&expected, 32, 7, "contexts", raw) == 0)
    #expect(KDF.subkey(7, context: "contexts", of: parent).array == expected)
    let keys: Set<[UInt8]> = [
      KDF.subkey(1, context: "contexts", of: parent).array, KDF.subkey(2, context: "contexts", of: parent).array,
      KDF.subkey(1, context: "anothers", of: parent).array, KDF.subkey(1, context: "contexts", of: other).array,
      parent.array,
    ]
    #expect(keys.count == 5)
  }
}

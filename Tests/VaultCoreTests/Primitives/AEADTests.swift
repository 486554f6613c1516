import Testing
import VaultBytes
import VaultCore
import VaultModel

@Suite struct AEADTests {
  @Test("The draft's XChaCha20-Poly1305 message opens to its plaintext") func published() throws {
    let vector = try vectors("xchacha20-poly1305.txt")[0]
    let sealed = vector["nonce"]! + vector["ciphertext"]! + vector["tag"]!
    let key = SecureBytes(vector["key"]!)
    let opened = try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
      try AEAD.open(bytes, key: key, associatedData: vector["associated-data"]!)
    }
    #expect(opened.array == vector["plaintext"]!)
  }

  @Test(
    "What is sealed opens again, at every size around the block borders",
    arguments: [0, 1, 15, 16, 17, 63, 64, 65, 4096])
  func roundTrip(count: Int) throws {
    let key = RandomBytes.secret(count: 32)
    let plaintext = RandomBytes.array(count: count)
    let sealed = plaintext.lend { AEAD.seal($0, key: key, associatedData: [1, 2, 3]) }
    #expect(sealed.count == count + AEAD.overhead)
    let opened = try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
      try AEAD.open(bytes, key: key, associatedData: [1, 2, 3])
    }
    #expect(opened.array == plaintext)
  }

  @Test("Two seals of one plaintext share neither nonce nor ciphertext") func freshNonce() {
    let key = RandomBytes.secret(count: 32)
    let plaintext = [UInt8](repeating: 9, count: 64)
    let first = plaintext.lend { AEAD.seal($0, key: key, associatedData: []) }
    let second = plaintext.lend { AEAD.seal($0, key: key, associatedData: []) }
    #expect(first[..<24] != second[..<24])
    #expect(first[24...] != second[24...])
  }

  // A random byte would have the same value in all 128 nonces once in 10^300 runs.
  @Test("Every byte of a nonce is random") func wholeNonce() {
    let key = RandomBytes.secret(count: 32)
    var seen = [Set<UInt8>](repeating: [], count: 24)
    for _ in 0..<128 {
      let sealed = [1, 2, 3].lend { AEAD.seal($0, key: key, associatedData: []) }
      for index in seen.indices { seen[index].insert(sealed[index]) }
    }
    #expect(seen.allSatisfy { $0.count > 1 }, "\(seen.map(\.count))")
  }

  @Test("Every truncation, extension and flipped bit is refused and leaves no plaintext behind") func damage() throws {
    let key = RandomBytes.secret(count: 32)
    let plaintext = [UInt8](repeating: 0x5A, count: 40)
    let sealed = plaintext.lend { AEAD.seal($0, key: key, associatedData: [7]) }
    var scratch = SecureBytes(count: 64)
    func refused(_ bytes: [UInt8]) -> Bool {
      let error = failure { () throws(CryptoError) in
        try bytes.lend { (bytes: RawSpan) throws(CryptoError) in
          try scratch.withMutableBytes { (out: inout MutableRawSpan) throws(CryptoError) in
            _ = try AEAD.open(bytes, key: key, associatedData: [7], into: &out)
          }
        }
      }
      return error != nil && !scratch.array.contains(0x5A)
    }
    for count in 0..<sealed.count { #expect(refused(Array(sealed[..<count]))) }
    for bit in 0..<sealed.count * 8 { #expect(refused(sealed.flipping(bit: bit))) }
    #expect(refused(sealed + [0]))
    #expect(!refused(sealed))
  }

  @Test("A destination that is too small is an error, and a larger one is filled from its start") func destination()
    throws
  {
    let key = RandomBytes.secret(count: 32)
    let sealed = [1, 2, 3].lend { AEAD.seal($0, key: key, associatedData: []) }
    var small = SecureBytes(count: 2)
    let error = failure { () throws(CryptoError) in
      try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
        try small.withMutableBytes { (out: inout MutableRawSpan) throws(CryptoError) in
          _ = try AEAD.open(bytes, key: key, associatedData: [], into: &out)
        }
      }
    }
    #expect(error?.isMalformed == true)
    var large = SecureBytes(count: 5)
    let count = try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
      try large.withMutableBytes { (out: inout MutableRawSpan) throws(CryptoError) in
        try AEAD.open(bytes, key: key, associatedData: [], into: &out)
      }
    }
    #expect(count == 3)
    #expect(large.array == [1, 2, 3, 0, 0])
  }

  @Test("Another key or other associated data does not open a message") func wrongContext() {
    let key = RandomBytes.secret(count: 32)
    let other = RandomBytes.secret(count: 32)
    let sealed = [1, 2, 3].lend { AEAD.seal($0, key: key, associatedData: [4]) }
    func error(_ key: borrowing SecureBytes, _ associatedData: [UInt8]) -> CryptoError? {
      do {
        _ = try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
          try AEAD.open(bytes, key: key, associatedData: associatedData)
        }
        return nil
      } catch { return error }
    }
    #expect(error(key, [4]) == nil)
    #expect(error(other, [4]) == .authenticationFailed)
    #expect(error(key, []) == .authenticationFailed)
    #expect(error(key, [4, 0]) == .authenticationFailed)
  }
}

@Suite struct AssociatedDataTests {
  private let vault = VaultID.random()

  @Test("The encoding is the documented one, field by field") func layout() throws {
    let vault = try VaultID(Array(0..<16))
    let data = AssociatedData(
      vault: vault, table: .values, item: ItemID(filledWith: 9), version: 3, accessible: .always, policyRevision: 4)
    var expected: [UInt8] = [7] + Array("vault 1".utf8)
    expected += [16] + Array(0..<16)
    expected += [1, 2]
    expected += [16] + [UInt8](repeating: 9, count: 16)
    expected += [8, 3, 0, 0, 0, 0, 0, 0, 0]
    expected += [1, 3]
    expected += [8, 4, 0, 0, 0, 0, 0, 0, 0]
    #expect(data.bytes == expected)
    let numbered = AssociatedData(
      vault: vault, table: .values, number: 0x0102, version: 3, accessible: .always, policyRevision: 4)
    expected.replaceSubrange(28..<44, with: [2, 1] + [UInt8](repeating: 0, count: 14))
    #expect(numbered.bytes == expected)
  }

  @Test("No two places have the same encoding") func distinct() {
    var seen: Set<[UInt8]> = []
    var count = 0
    for vault in [vault, VaultID.random()] {
      for table in AssociatedData.Table.allCases {
        for item in [ItemID(filledWith: 0), ItemID(filledWith: 1), .random(), .random()] {
          for version in [0, 1, 256] {
            for accessible in AccessClass.allCases {
              for revision in [1, 2] {
                seen.insert(
                  AssociatedData(
                    vault: vault, table: table, item: item, version: version, accessible: accessible,
                    policyRevision: revision
                  ).bytes)
                count += 1
              }
            }
          }
        }
      }
    }
    #expect(seen.count == count)
  }

  @Test("A record that was moved to another place does not open") func moved() throws {
    let key = RandomBytes.secret(count: 32)
    func place(_ item: UInt8, _ version: Int) -> AssociatedData {
      AssociatedData(
        vault: vault, table: .values, item: ItemID(filledWith: item), version: version, accessible: .whenUnlocked,
        policyRevision: 1)
    }
    let sealed = [1, 2, 3].lend { AEAD.seal($0, key: key, associatedData: place(1, 1)) }
    func opens(_ place: AssociatedData) -> Bool {
      failure { () throws(CryptoError) in
        _ = try sealed.lend { (bytes: RawSpan) throws(CryptoError) in
          try AEAD.open(bytes, key: key, associatedData: place)
        }
      } == nil
    }
    #expect(opens(place(1, 1)))
    #expect(!opens(place(1, 2)))
    #expect(!opens(place(2, 1)))
  }

  @Test("A vault id has 16 bytes", arguments: [0, 15, 17]) func vaultID(count: Int) {
    #expect(throws: CryptoError.self) { try VaultID([UInt8](repeating: 0, count: count)) }
  }
}

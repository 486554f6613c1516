import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite struct PresenceSlotTests: ~Copyable {
  private let vaultID = RandomBytes.array(count: 16)
  private let vaultKey = RandomBytes.secret(count: 32)
  private let presenceKey = RandomBytes.secret(count: 32)

  private func slot(
    keystore: String = "file", locator: [UInt8] = [1, 2, 3], users: [UInt32] = [1001, 1000, 1001],
    fingers: [String] = ["right-thumb", "left-index-finger"]
  ) throws(CryptoError) -> SlotRecord {
    try SlotRecord.make(
      id: 5, kind: .pam, label: "finger", created: 1, secret: presenceKey, kdf: nil,
      terms: PresenceTerms(keystore: keystore, locator: locator, users: users, fingers: fingers), vaultKey: vaultKey,
      vaultID: vaultID)
  }

  private func decode(_ bytes: [UInt8]) throws(CryptoError) -> SlotRecord {
    try bytes.lend { (bytes: RawSpan) throws(CryptoError) in try SlotRecord(decoding: bytes) }
  }

  @Test("A presence slot opens with its key, tells its terms, and does not open with another key") func opens() throws {
    let slot = try decode(slot().encoded())
    #expect(slot.terms?.keystore == "file")
    #expect(slot.terms?.locator == [1, 2, 3])
    #expect(slot.terms?.users == [1000, 1001])
    #expect(slot.terms?.fingers == ["left-index-finger", "right-thumb"])
    let opened = try slot.openVaultKey(secret: presenceKey, vaultID: vaultID)
    #expect(opened.isEqual(to: vaultKey) == true)
    let error = failure { () throws(CryptoError) in
      _ = try slot.openVaultKey(secret: RandomBytes.secret(count: 32), vaultID: vaultID)
    }
    #expect(error == .authenticationFailed)
  }

  @Test("A presence slot without locator and fingers keeps them empty") func empty() throws {
    let terms = try decode(slot(keystore: "memory", locator: [], fingers: []).encoded()).terms
    #expect(terms?.locator == [])
    #expect(terms?.fingers == [])
  }

  @Test("Every flipped bit and every truncation of a presence slot is refused") func damage() throws {
    let bytes = try slot().encoded()
    for count in 0..<bytes.count {
      #expect(failure { () throws(CryptoError) in _ = try decode(Array(bytes[..<count])) } != nil)
    }
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      let error = failure { () throws(CryptoError) in
        _ = try decode(changed).openVaultKey(secret: presenceKey, vaultID: vaultID)
      }
      #expect(error != nil, "bit \(bit)")
    }
  }

  @Test("Terms beyond the limits, without a user, or missing are refused") func limits() throws {
    func error(_ body: () throws(CryptoError) -> Void) -> CryptoError? { failure(body) }
    #expect(error { () throws(CryptoError) in _ = try slot(users: []) }?.isLimits == true)
    #expect(error { () throws(CryptoError) in _ = try slot(users: Array(0..<65)) }?.isLimits == true)
    #expect(error { () throws(CryptoError) in _ = try slot(keystore: "") }?.isLimits == true)
    #expect(
      error { () throws(CryptoError) in _ = try slot(locator: [UInt8](repeating: 0, count: 1025)) }?.isLimits == true)
    #expect(error { () throws(CryptoError) in _ = try slot(fingers: [""]) }?.isLimits == true)
    let missing = error { () throws(CryptoError) in
      _ = try SlotRecord.make(
        id: 5, kind: .pam, label: "", created: 1, secret: presenceKey, kdf: nil, vaultKey: vaultKey, vaultID: vaultID)
    }
    #expect(missing?.isMalformed == true)
  }

  @Test("The key of a slot kept in memory follows from the vault key and the slot's number") func memory() {
    let key = SlotRecord.memoryKey(id: 1, vaultKey: vaultKey)
    #expect(key.isEqual(to: SlotRecord.memoryKey(id: 1, vaultKey: vaultKey)) == true)
    #expect(key.isEqual(to: SlotRecord.memoryKey(id: 2, vaultKey: vaultKey)) == false)
    #expect(key.isEqual(to: vaultKey) == false)
  }
}

import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite struct SlotRecordTests: ~Copyable {
  private let vaultID = RandomBytes.array(count: 16)
  private let vaultKey = RandomBytes.secret(count: 32)

  private func passwordSlot(_ password: String = "hunter2", label: String = "password") throws -> SlotRecord {
    try SlotRecord.make(
      id: 3, kind: .password, label: label, created: 1_700_000_000, secret: SecureBytes(text: password), kdf: .floor,
      vaultKey: vaultKey, vaultID: vaultID)
  }

  private func decode(_ bytes: [UInt8]) throws(CryptoError) -> SlotRecord {
    try bytes.lend { (bytes: RawSpan) throws(CryptoError) in try SlotRecord(decoding: bytes) }
  }

  @Test("A password slot opens with its password, before and after encoding, and not with another") func password()
    throws
  {
    let slot = try passwordSlot()
    let stored = try decode(slot.encoded())
    #expect(stored == slot)
    let opened = try stored.openVaultKey(secret: SecureBytes(text: "hunter2"), vaultID: vaultID)
    #expect(opened.isEqual(to: vaultKey) == true)
    let error = failure { () throws(CryptoError) in
      _ = try stored.openVaultKey(secret: SecureBytes(text: "hunter3"), vaultID: vaultID)
    }
    #expect(error == .authenticationFailed)
  }

  @Test("A recovery slot opens with its code however it is typed; a typing error is told from a wrong code")
  func recovery() throws {
    let code = RecoveryCode.random().text()
    let slot = try SlotRecord.make(
      id: 4, kind: .recovery, label: "recovery", created: 1, secret: code, kdf: nil, vaultKey: vaultKey,
      vaultID: vaultID)
    #expect(slot.kdf == nil)
    let lower = SecureBytes(code.array.map { $0 | 0x20 }.filter { $0 != UInt8(ascii: "-") | 0x20 })
    let opened = try decode(slot.encoded()).openVaultKey(secret: lower, vaultID: vaultID)
    #expect(opened.isEqual(to: vaultKey) == true)
    func error(_ secret: borrowing SecureBytes) -> CryptoError? {
      do {
        _ = try slot.openVaultKey(secret: secret, vaultID: vaultID)
        return nil
      } catch { return error }
    }
    #expect(error(RecoveryCode.random().text()) == .authenticationFailed)
    #expect(error(SecureBytes(text: "not a code"))?.isMalformed == true)
  }

  @Test("Two slots with one password share neither salt nor wrapped key") func freshSalt() throws {
    let first = try passwordSlot()
    let second = try passwordSlot()
    #expect(first.salt != second.salt)
    #expect(first.wrapped != second.wrapped)
  }

  @Test("A slot of another vault does not open") func otherVault() throws {
    let slot = try passwordSlot()
    let other = RandomBytes.array(count: 16)
    let error = failure { () throws(CryptoError) in
      _ = try slot.openVaultKey(secret: SecureBytes(text: "hunter2"), vaultID: other)
    }
    #expect(error == .authenticationFailed)
  }

  @Test("Every truncation and extension of a slot is refused") func truncated() throws {
    let bytes = try passwordSlot().encoded()
    for count in 0..<bytes.count {
      #expect(failure { () throws(CryptoError) in _ = try decode(Array(bytes[..<count])) } != nil)
    }
    #expect(failure { () throws(CryptoError) in _ = try decode(bytes + [0]) } != nil)
  }

  @Test("Every flipped bit of a slot is refused, even if the key derived from the secret stayed the same")
  func flipped() throws {
    let slot = try passwordSlot()
    let root = try slot.deriveRoot(SecureBytes(text: "hunter2"))
    let vault = try VaultID(vaultID)
    func opens(_ bytes: [UInt8]) -> Bool {
      failure { () throws(CryptoError) in _ = try decode(bytes).openVaultKey(root: root, vault: vault) } == nil
    }
    let bytes = slot.encoded()
    #expect(opens(bytes))
    for bit in 0..<bytes.count * 8 { #expect(!opens(bytes.flipping(bit: bit)), "bit \(bit)") }
  }

  @Test("Parameters that are too weak or too costly are limits, told before any memory is taken") func limits() throws {
    let bytes = try passwordSlot().encoded()
    // The version, id, kind, time and derivation come first: the memory stands at offset 15, the passes at 23.
    func patched(memory: UInt64, passes: UInt32) -> [UInt8] {
      var copy = bytes
      for index in 0..<8 { copy[15 + index] = UInt8(truncatingIfNeeded: memory >> UInt64(8 * index)) }
      for index in 0..<4 { copy[23 + index] = UInt8(truncatingIfNeeded: passes >> UInt32(8 * index)) }
      return copy
    }
    #expect(patched(memory: 19 << 20, passes: 2) == bytes)
    for (memory, passes) in [
      (1 << 30 + 1, 2), (1 << 40, 2), (UInt64(Int64.max) & ~1023, 2), (8 << 20, 2), (0, 2), (19 << 20, 1),
      (19 << 20, 21), (19 << 20, UInt32.max),
    ] as [(UInt64, UInt32)] {
      let error = failure { () throws(CryptoError) in _ = try decode(patched(memory: memory, passes: passes)) }
      #expect(error?.isLimits == true, "\(memory) bytes, \(passes) passes")
    }
    #expect(failure { () throws(CryptoError) in _ = try decode(patched(memory: .max, passes: 2)) } != nil)
  }

  @Test("Parameters within the limits that were changed do not open the slot") func weakened() throws {
    let slot = try SlotRecord.make(
      id: 1, kind: .password, label: "", created: 0, secret: SecureBytes(text: "p"),
      kdf: .init(memory: 20 << 20, passes: 2), vaultKey: vaultKey, vaultID: vaultID)
    var bytes = slot.encoded()
    bytes[15 + 2] = 0x30  // From 20 MiB (0x0140_0000) to 19 MiB (0x0130_0000).
    let weaker = try decode(bytes)
    #expect(weaker.kdf == .floor)
    let error = failure { () throws(CryptoError) in
      _ = try weaker.openVaultKey(secret: SecureBytes(text: "p"), vaultID: vaultID)
    }
    #expect(error == .authenticationFailed)
  }

  @Test("A wrapped key in another slot's place does not open") func swapped() throws {
    let first = try passwordSlot(label: "one")
    var second = try passwordSlot(label: "two")
    second.wrapped = first.wrapped
    let error = failure { () throws(CryptoError) in
      _ = try second.openVaultKey(secret: SecureBytes(text: "hunter2"), vaultID: vaultID)
    }
    #expect(error == .authenticationFailed)
  }

  @Test("A message that opens under the slot's key but was made without its check value is refused") func committed()
    throws
  {
    // A message that opens under many keys would lack the check value; this one simply has the check value of another
    // slot key.
    var slot = try passwordSlot()
    let root = try slot.deriveRoot(SecureBytes(text: "hunter2"))
    slot.wrapped.replaceSubrange(..<32, with: KDF.subkey(2, context: "slot-key", of: vaultKey).array)
    let error = failure { () throws(CryptoError) in
      _ = try slot.openVaultKey(root: root, vault: try VaultID(vaultID))
    }
    #expect(error == .authenticationFailed)
  }

  @Test("Labels, kinds and parameters that do not fit are refused when a slot is made") func badSlots() {
    func error(kind: SlotKind, label: String, kdf: Argon2id.Parameters?, vaultID: [UInt8]) -> CryptoError? {
      // The secret must fit the kind, because otherwise the secret would be the reason for the refusal.
      let secret = kind == .recovery ? RecoveryCode.random().text() : SecureBytes(text: "p")
      return failure { () throws(CryptoError) in
        _ = try SlotRecord.make(
          id: 1, kind: kind, label: label, created: 0, secret: secret, kdf: kdf, vaultKey: vaultKey, vaultID: vaultID)
      }
    }
    #expect(error(kind: .recovery, label: "", kdf: nil, vaultID: vaultID) == nil)
    let long = String(repeating: "x", count: 257)
    #expect(error(kind: .password, label: long, kdf: .floor, vaultID: vaultID)?.isLimits == true)
    #expect(error(kind: .password, label: "", kdf: nil, vaultID: vaultID)?.isMalformed == true)
    #expect(error(kind: .recovery, label: "", kdf: .floor, vaultID: vaultID)?.isMalformed == true)
    #expect(error(kind: .password, label: "", kdf: .floor, vaultID: [])?.isMalformed == true)
    let weak = Argon2id.Parameters(memory: 8 << 20, passes: 2)
    #expect(error(kind: .password, label: "", kdf: weak, vaultID: vaultID)?.isLimits == true)
  }

  @Test("Fields of a later program are kept, unless they change the meaning of the rest") func extensions() throws {
    let slot = try passwordSlot(label: "x")
    let bytes = slot.encoded()
    let place = bytes.count - slot.wrapped.count - 4
    func with(_ fields: [UInt8]) -> [UInt8] {
      var copy = bytes
      copy.replaceSubrange(place..<place + 2, with: [UInt8(fields.count), 0] + fields)
      return copy
    }
    let kept = with([1, 2, 0, 0xAA, 0xBB, 9, 0, 0])
    #expect(try decode(kept).encoded() == kept)
    for fields in [[128, 0, 0], [2, 0, 0, 1, 0, 0], [1, 0, 0, 1, 0, 0], [1, 9, 0], [1], [1, 0]] as [[UInt8]] {
      #expect(failure { () throws(CryptoError) in _ = try decode(with(fields)) }?.isMalformed == true)
    }
  }
}

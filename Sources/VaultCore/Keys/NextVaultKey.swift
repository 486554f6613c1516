/// The next vault key, sealed under the present one and stored while a rekey seals everything anew.
///
/// The record is the rekey's random id (16 bytes), a digest of the new slots (32) and the sealed key. The wrapping key
/// is derived from the present vault key (`crypto_kdf`, id 1, context `rekeying`), so that every way into the vault
/// also yields the next key and nothing else does. The associated data is format, `next vault key`, vault id, rekey id
/// and digest: the key belongs to one rekey and to the slots that were made in it.
public struct NextVaultKey: Hashable, Sendable {
  /// The size of a rekey's id in bytes.
  public static let idCount = 16
  private static let count = idCount + Digest.count + 32 + AEAD.overhead

  /// The record as the store keeps it.
  public let encoded: [UInt8]

  /// Seals the 32-byte key `next` for a new rekey with a fresh id.
  ///
  /// - Parameter slots: The slots of the next vault key, in any order.
  public init(
    sealing next: borrowing SecureBytes, slots: [SlotRecord], under present: borrowing SecureBytes, vaultID: VaultID
  ) {
    precondition(next.count == 32, "a vault key has 32 bytes")
    let bound = RandomBytes.array(count: Self.idCount) + Self.digest(of: slots)
    let key = Self.wrappingKey(present)
    encoded = bound + next.withBytes { AEAD.seal($0, key: key, associatedData: Self.associatedData(vaultID, bound)) }
  }

  /// Takes the bytes that a store keeps.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for another size.
  public init(decoding encoded: [UInt8]) throws(CryptoError) {
    guard encoded.count == Self.count else { throw .malformed("size of the next vault key") }
    self.encoded = encoded
  }

  /// Opens the key.
  ///
  /// - Throws: ``CryptoError/authenticationFailed`` for another key or vault, or for changed bytes.
  public func open(under present: borrowing SecureBytes, vaultID: VaultID) throws(CryptoError) -> SecureBytes {
    let bound = Self.idCount + Digest.count
    // Bytes have no padding: all are initialized.
    return try AEAD.open(
      unsafe encoded.span.bytes.extracting(droppingFirst: bound), key: Self.wrappingKey(present),
      associatedData: Self.associatedData(vaultID, Array(encoded.prefix(bound))))
  }

  /// True if `slots` are exactly the slots that the key was sealed with.
  public func isFor(_ slots: [SlotRecord]) -> Bool {
    Self.digest(of: slots).elementsEqual(encoded[Self.idCount..<(Self.idCount + Digest.count)])
  }

  private static func digest(of slots: [SlotRecord]) -> [UInt8] {
    let list = AssociatedData.encode(slots.sorted { $0.id < $1.id }.map { $0.encoded() })
    // Bytes have no padding: all are initialized.
    return Digest(of: unsafe list.span.bytes).withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  private static func wrappingKey(_ present: borrowing SecureBytes) -> SecureBytes {
    KDF.subkey(1, context: "rekeying", of: present)
  }

  private static func associatedData(_ vaultID: VaultID, _ bound: [UInt8]) -> [UInt8] {
    AssociatedData.encode(purpose: "next vault key", vaultID, [bound])
  }
}

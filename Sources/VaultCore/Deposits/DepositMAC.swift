internal import VaultBytes
public import VaultModel

/// The proof that the daemon took a deposit for a certain class, and sealed the deposit to the vault's own key. A
/// deposit that waits for an unlock carries this proof.
public enum DepositMAC {
  /// The place in the store to which a deposit is bound.
  public static func place(_ id: ItemID, _ vault: VaultID, _ accessible: AccessClass) -> AssociatedData {
    AssociatedData(vault: vault, table: .deposits, item: id, version: 0, accessible: accessible, policyRevision: 0)
  }

  /// The MAC of a sealed deposit under the deposit key of its class: keyed BLAKE2b over the place, the row, the public
  /// key and the ``DepositorTag``, which all have fixed sizes, and then the box.
  ///
  /// - Parameter row: The deposit's number in the store, which gives the order of deposits: of several values left for
  ///   one item, the last becomes the current one.
  public static func make(
    _ place: AssociatedData, row: Int64, publicKey: [UInt8], _ tag: DepositorTag, sealed: RawSpan,
    key: borrowing SecureBytes
  ) -> RecordMark {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: row >> ($0 * 8)) }
    let before = place.bytes + number + publicKey + tag.bytes
    return before.withSpan { RecordMark($0, sealed, key: key) }
  }
}

/// The blind tag of a depositor, by which the store limits the deposits of each one: 16 bytes of keyed BLAKE2b of the
/// author's text under the deposit key of the class.
public struct DepositorTag: Hashable, Sendable {
  public static let count = 16
  public let bytes: [UInt8]

  /// Takes the bytes that a store holds; nil for any other size.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = bytes
  }

  public init(of author: String, key: borrowing SecureBytes) {
    bytes = Array(author.utf8).withSpan { KeyedHash.hash($0, key: key, count: Self.count) }
  }
}

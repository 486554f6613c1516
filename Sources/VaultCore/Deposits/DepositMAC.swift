public import VaultModel

/// What vouches for a deposit that waits for an unlock: that the daemon took it, for which class, and that it sealed it to the
/// vault's own key.
public enum DepositMAC {
  /// The place in the store that a deposit is bound to.
  public static func place(_ id: ItemID, _ vault: VaultID, _ accessible: AccessClass) -> AssociatedData {
    AssociatedData(vault: vault, table: .deposits, item: id, version: 0, accessible: accessible, policyRevision: 0)
  }

  /// The MAC of a sealed deposit under the deposit key of its class: keyed BLAKE2b over its place, its row, the public key and
  /// ``DepositorTag``, which have fixed sizes, and the box.
  ///
  /// - Parameter row: its number in the store, which says what was left before it: the last of several values for an item is
  ///   the current one.
  public static func make(
    _ place: AssociatedData, row: Int64, publicKey: [UInt8], _ tag: DepositorTag, sealed: RawSpan,
    key: borrowing SecureBytes
  ) -> RecordMark {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: row >> ($0 * 8)) }
    let before = place.bytes + number + publicKey + tag.bytes
    return before.withSpan { RecordMark($0, sealed, key: key) }
  }
}

/// The blind tag of whoever left a deposit, by which what one caller leaves is bounded: 16 bytes of keyed BLAKE2b of its author
/// under the deposit key of the class.
public struct DepositorTag: Hashable, Sendable {
  public static let count = 16
  public let bytes: [UInt8]

  /// Takes the bytes that a store holds; nil for another size.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = bytes
  }

  public init(of author: String, key: borrowing SecureBytes) {
    bytes = Array(author.utf8).withSpan { KeyedHash.hash($0, key: key, count: Self.count) }
  }
}

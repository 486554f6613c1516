/// The random identity of one vault, to which every record is bound.
public struct VaultID: Hashable, Sendable {
  /// The size in bytes.
  public static let count = 16
  /// The 16 bytes.
  public let bytes: [UInt8]

  /// Takes the bytes that a store holds.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` unless there are 16.
  public init(_ bytes: [UInt8]) throws(CryptoError) {
    guard bytes.count == Self.count else { throw .malformed("vault id size") }
    self.bytes = bytes
  }

  private init(random: Void) { bytes = RandomBytes.array(count: Self.count) }

  /// Makes a new random identity.
  public static func random() -> VaultID { VaultID(random: ()) }
}

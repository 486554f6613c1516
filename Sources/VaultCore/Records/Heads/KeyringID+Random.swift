public import VaultModel

extension KeyringID {
  /// Makes a new random number.
  public static func random() -> KeyringID { KeyringID(number: UInt64(bitPattern: ItemID.random().numbers.0)) }
}

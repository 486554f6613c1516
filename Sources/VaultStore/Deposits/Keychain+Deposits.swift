internal import VaultBytes
public import VaultCore
public import VaultModel

// The deposits, which are left for items while these are locked. A deposit is sealed to the vault's public key and
// authenticated with the deposit key of the class that it enters. That key opens nothing and stays in memory during a
// lock.
extension Keychain {
  /// The most deposits that wait or are kept aside, and the most bytes that they have together.
  public static let (mostDeposits, mostDepositBytes) = (8192, 64 << 20)
  /// The same limits for the deposits of one caller for items of one class.
  public static let (mostDepositsOfOne, mostDepositBytesOfOne) = (1024, 8 << 20)
  /// The most deposits that are remembered, so that none is taken in twice, and the most of one caller among them.
  static let (mostSeen, mostSeenOfOne) = (32_768, 8192)
  /// The number of seconds after which a deposit is not taken in any more, and not remembered.
  public static let depositAge: Int64 = 30 * 86_400
  /// The number of seconds by which a deposit's time may lie in the future.
  static let depositLead: Int64 = 86_400

  /// True when a deposit can be left for items of this class now.
  public func takesDeposits(for accessible: AccessClass) -> Bool {
    withKeys(accessible) { $0.deposits != nil } && (try? depositKey(accessible)) != nil
  }

  /// Leaves a deposit for the next unlock.
  ///
  /// - Parameters:
  ///   - plaintext: the deposit as ``DepositRecord`` encoded it, with that stamp.
  ///   - author: the caller whose deposits are counted and bounded.
  /// - Returns: the number of the deposit.
  /// - Throws: ``VaultError/locked`` when nothing can be left for items of that class now;
  ///   ``VaultError/invalidValue(_:)`` when the waiting deposits have reached a limit; ``VaultError/corrupt(_:)``,
  ///   ``VaultError/storage(_:)``.
  public func leaveDeposit(
    _ plaintext: Scratch, _ stamp: DepositStamp, for accessible: AccessClass, by author: String
  ) throws(VaultError) -> Int64 {
    try noticing { () throws(VaultError) in
      let row = try write { () throws(VaultError) in
        let row = try sealDeposit(plaintext, stamp.id, accessible, author, row: nextDeposit())
        try checkRoom(for: row.depositor, size: row.sealed.count)
        try add(row)
        return row
      }
      bound.leftDeposits[row.row] = row.id
      return row.row
    }
  }

  /// Seals a deposit as the row of that number.
  func sealDeposit(
    _ plaintext: Scratch, _ id: ItemID, _ accessible: AccessClass, _ author: String, row: Int64
  ) throws(VaultError) -> DepositRow {
    let publicKey = try depositKey(accessible)
    let place = DepositMAC.place(id, vault, accessible)
    return try withDepositKey(accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      let tag = DepositorTag(of: author, key: key)
      do throws(CryptoError) {
        let box = try plaintext.withBytes { (bytes: RawSpan) throws(CryptoError) in
          try SealedBox.seal(bytes, to: publicKey)
        }
        let mac = box.withSpan { DepositMAC.make(place, row: row, publicKey: publicKey, tag, sealed: $0, key: key) }
        return DepositRow(
          row: row, id: id, accessible: accessible, state: .waiting, depositor: tag.bytes, sealed: mac.array + box)
      } catch { throw .corrupt("the public key is invalid") }
    }
  }

  /// The number of bytes that a deposit whose encoded record has `plaintext` bytes takes when it is kept aside.
  public static func depositSize(_ plaintext: Int) -> Int { 1 + RecordMark.count + plaintext + SealedBox.overhead }

  /// Checks that there is room for one more deposit of `size` bytes from the depositor with that tag.
  ///
  /// - Throws: ``VaultError/invalidValue(_:)`` when a limit is reached.
  func checkRoom(for tag: [UInt8], size: Int) throws(VaultError) {
    let table = try knownDeposits()
    let (own, all) = (table.sizes(of: tag), table.all)
    guard own.count < Self.mostDepositsOfOne, own.bytes + size <= Self.mostDepositBytesOfOne else {
      throw .invalidValue("you have reached the limit of waiting deposits")
    }
    guard all.count < Self.mostDeposits, all.bytes + size <= Self.mostDepositBytes else {
      throw .invalidValue("the waiting deposits have reached the vault's limit")
    }
  }

  // MARK: Keys

  /// The public key that a deposit is sealed to.
  ///
  /// - Throws: ``VaultError/locked`` before the first unlock, unless the deposit is for `always` items: the key of that
  ///   class authenticates the public key in the store, and whoever has that key may read those items anyway.
  private func depositKey(_ accessible: AccessClass) throws(VaultError) -> [UInt8] {
    guard publicKey != nil || accessible == .always && holdsIntegrityKey(.always) else { throw .locked }
    return try checkedPublicKey()
  }

  func withDepositKey<R: ~Copyable>(
    _ accessible: AccessClass, _ body: (borrowing SecureBytes) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    try withKeys(accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.deposits {
      case .some(let key): try body(key)
      case .none: throw .locked
      }
    }
  }
}

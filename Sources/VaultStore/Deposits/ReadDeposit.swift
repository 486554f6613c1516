internal import VaultBytes
import VaultCore
import VaultModel

/// The reason why a deposit cannot be read.
struct DepositFault: Error {
  let obstacle: DepositObstacle
}

/// A deposit that was opened: its record, and the place of its value.
struct ReadDeposit {
  let record: DepositRecord
  /// The time at which the deposit was left, or at which the box that was handed in was sealed, in Unix seconds.
  private(set) var time: Int64
  /// The item as the deposit describes it; nil for a box that cannot be read, for which ``fault`` is the reason.
  private(set) var item: DepositedItem?
  private(set) var fault: DepositObstacle?
  /// The item's state when the value was left; nil when that is not known.
  private(set) var base: DepositRecord.Base?
  /// The place of the value: in the inner plaintext for a box, otherwise in the outer plaintext.
  private(set) var value: Range<Int>?
  /// The identity of the box that was handed in; nil for a deposit that was left here directly.
  private(set) var boxID: ItemID?

  /// Opens the sealed part of a row into `outer`.
  static func open(_ row: DepositRow, _ keychain: Keychain, _ outer: Scratch) throws(DepositFault) {
    let box = Array(row.envelope.dropFirst(RecordMark.count))
    guard let publicKey = keychain.publicKey else { throw DepositFault(obstacle: .sealedToAnother) }
    let isOpen: Void? = try? keychain.withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        try box.withSpan { (bytes: RawSpan) throws(CryptoError) in
          try outer.open(bytes, publicKey: publicKey, secretKey: key)
        }
      } catch { throw .corrupt("a deposit does not open") }
    }
    if isOpen == nil { throw DepositFault(obstacle: .sealedToAnother) }
  }

  /// Reads the plaintext of the deposit with that identity. If the deposit is a box, opens the box into `inner`.
  init(_ id: ItemID, _ keychain: Keychain, _ outer: Scratch, _ inner: Scratch) throws(DepositFault) {
    do throws(CryptoError) {
      record = try outer.withBytes { (bytes: RawSpan) throws(CryptoError) in try DepositRecord(decoding: bytes) }
    } catch { throw DepositFault(obstacle: .malformed) }
    guard record.stamp.id == id, record.stamp.vault == keychain.vault else { throw DepositFault(obstacle: .malformed) }
    time = record.stamp.time
    switch record.content {
    case .item(let item, let base, let value):
      (self.item, self.base, self.value) = (item, base, value)
    case .box(let range):
      let box: DepositBox
      do throws(DepositFault) { box = try Self.openBox(range, keychain, outer, inner) } catch {
        fault = error.obstacle
        return
      }
      (time, item, value, boxID) = (box.stamp.time, box.item, box.value, box.stamp.id)
    }
  }

  private static func openBox(
    _ range: Range<Int>, _ keychain: Keychain, _ outer: Scratch, _ inner: Scratch
  ) throws(DepositFault) -> DepositBox {
    guard let publicKey = keychain.publicKey else { throw DepositFault(obstacle: .sealedToAnother) }
    var obstacle = DepositObstacle.sealedToAnother
    let box = try? keychain.withBoxKey { (key: borrowing SecureBytes) throws(VaultError) in
      do throws(CryptoError) {
        return try outer.withBytes { (bytes: RawSpan) throws(CryptoError) in
          try DepositBox.open(bytes.extracting(range), publicKey: publicKey, secretKey: key, into: inner)
        }
      } catch {
        if case .malformed = error { obstacle = .malformed }
        throw .corrupt("a sealed deposit does not open")
      }
    }
    guard let box else { throw DepositFault(obstacle: obstacle) }
    // Such a box was sealed to this vault's key, and names another vault.
    guard box.stamp.vault == keychain.vault else { throw DepositFault(obstacle: .malformed) }
    return box
  }
}

extension DepositRow {
  /// True when a waiting row is authentic: its MAC shows that it was left here.
  func isAuthentic(_ keychain: Keychain) throws(VaultError) -> Bool {
    guard let publicKey = keychain.publicKey else { return false }
    return try isAuthentic(keychain, publicKey: publicKey)
  }

  /// True when a waiting row is authentic under a public key that the caller knows to be the vault's.
  func isAuthentic(_ keychain: Keychain, publicKey: [UInt8]) throws(VaultError) -> Bool {
    guard let tag = DepositorTag(depositor), envelope.count > RecordMark.count else { return false }
    let mac = Array(envelope.prefix(RecordMark.count)).withSpan { RecordMark($0) }
    let box = Array(envelope.dropFirst(RecordMark.count))
    let place = DepositMAC.place(id, keychain.vault, accessible)
    let expected = try keychain.withDepositKey(accessible) { (key: borrowing SecureBytes) throws(VaultError) in
      box.withSpan { DepositMAC.make(place, row: row, publicKey: publicKey, tag, sealed: $0, key: key) }
    }
    return mac == expected
  }
}

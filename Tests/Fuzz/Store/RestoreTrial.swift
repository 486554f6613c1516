import Glibc
import VaultCore
import VaultModel
import VaultStore

/// A trial of a backup by an adversary with the keys, who changed the store before it was sealed,
/// and the backup afterwards.
///
/// The restore must give a vault with the same guarantees as in every trial of a store, or leave nothing.
struct RestoreTrial {
  /// A change of the sealed backup, encoded in eight bytes of an input.
  private struct Change {
    static let size = 8
    let operation: UInt8
    let mask: UInt8
    let place: Int

    init(_ bytes: RawSpan) {
      func byte(_ index: Int) -> UInt8 {
        // Every bit pattern is a UInt8, and the span checks the place.
        unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      }
      (operation, mask) = (byte(0) % 8, byte(1))
      place = (2..<8).reduce(0) { $0 << 8 | Int(byte($1)) }
    }

    /// The size of the store as the header states it.
    func size(of count: Int) -> Int { operation == 6 ? max(1, place) : count }

    func apply(to header: inout [UInt8], _ pieces: inout [[UInt8]]) {
      let (one, other) = (place % pieces.count, (place >> 24) % pieces.count)
      switch operation {
      case 1: header[place % header.count] ^= mask
      case 2: pieces[one][(place >> 8) % pieces[one].count] ^= mask
      case 3: pieces[pieces.count - 1].removeLast((place >> 8) % (pieces[pieces.count - 1].count + 1))
      case 4: pieces.remove(at: one)
      case 5: pieces.swapAt(one, other)
      case 7: pieces[pieces.count - 1].append(mask)
      default: break
      }
    }
  }

  static func run(_ input: RawSpan, _ stories: [Story], in folder: Folder) -> Trial.End {
    guard input.byteCount > Change.size else { return .refused }
    // Every bit pattern is a UInt8.
    let flags = unsafe input.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    let change = Change(input.extracting(1...Change.size))
    var draft = Draft(stories[flags & 0xC0 == 0xC0 ? 1 : 0], withLog: false)
    draft.apply(input.extracting((1 + Change.size)...))
    for directory in [folder.store, folder.saved] { folder.clear(directory) }
    Randomness.restart()
    guard !draft.main.isEmpty, let backup = seal(draft, change) else { return .refused }
    do throws(VaultError) {
      try restore(backup.header, backup.pieces, in: folder.saved)
    } catch {
      Trial.expectDamage(error)
      for name in ["vault.db", "vault.db.new", "vault.db.new-wal"] {
        require(unsafe access("\(folder.saved)/\(name)", F_OK) != 0, "\(name) is left of what was not restored")
      }
      return .refused
    }
    require(!backup.isChanged, "a changed backup is restored")
    var trial = Trial(draft, folder, in: folder.saved, beside: folder.store)
    do throws(VaultError) {
      return try trial.run(readsFirst: flags & 4 != 0, writesFirst: flags & 8 != 0, goesOn: flags & 0x20 != 0)
    } catch {
      Trial.expectDamage(error)
      return .refused
    }
  }

  private static func seal(_ draft: Draft, _ change: Change) -> (header: [UInt8], pieces: [[UInt8]], isChanged: Bool)? {
    guard let vault = try? VaultID(draft.story.vaultID) else { return nil }
    let classKey = RandomBytes.secret(count: 32)
    let wrapped = KeyWrap.wrap(
      classKey: classKey, of: .afterFirstUnlock, under: .vault, key: Story.vaultKey, vaultID: vault)
    guard
      var header = try? BackupHeader(
        vaultID: vault, created: 2000, size: change.size(of: draft.main.count), slots: draft.story.slots,
        wrappedKey: wrapped)
    else { return nil }
    var sealer = header.seal(backupKey: Subkey.backup.derive(from: classKey))
    let start = header.encoded()
    var pieces: [[UInt8]] = []
    for from in stride(from: 0, to: draft.main.count, by: BackupHeader.pieceCount) {
      let bytes = Array(draft.main[from..<min(draft.main.count, from + BackupHeader.pieceCount)])
      var sealed = [UInt8](repeating: 0, count: bytes.count + StreamSealer.overhead)
      let first = from == 0 ? start : []
      let isLast = from + bytes.count == draft.main.count
      do {
        var span = sealed.mutableSpan
        var target = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
        // Bytes have no padding: all are initialized.
        _ = unsafe sealer.seal(bytes.span.bytes, isLast: isLast, associatedData: first.span.bytes, into: &target)
      }
      pieces.append(sealed)
    }
    var (changed, changedPieces) = (start, pieces)
    change.apply(to: &changed, &changedPieces)
    return (changed, changedPieces, changed != start || changedPieces != pieces || header.size != draft.main.count)
  }

  private static func restore(_ header: [UInt8], _ pieces: [[UInt8]], in directory: String) throws(VaultError) {
    let decoded: BackupHeader
    // Bytes have no padding: all are initialized.
    do throws(CryptoError) { decoded = try BackupHeader(decoding: unsafe header.span.bytes) } catch {
      throw .corrupt("\(error)")
    }
    var restoration = try Restoration(of: decoded, in: directory, vaultKey: Story.vaultKey)
    let stream = pieces.flatMap { $0 }
    var from = 0
    while let expected = restoration.expected {
      guard expected <= stream.count - from else { throw .corrupt("it is cut short") }
      // Bytes have no padding: all are initialized.
      try restoration.take(unsafe stream.span.bytes.extracting(from..<from + expected))
      from += expected
    }
    guard from == stream.count else { throw .corrupt("there is data after its end") }
    _ = try restoration.finish(vaultKey: Story.vaultKey, bootKey: RandomBytes.secret(count: 32)) {}
  }
}

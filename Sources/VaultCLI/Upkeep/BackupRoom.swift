internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultWire

/// The room for a backup on the file system of the store.
///
/// For a backup the daemon may give up the room that it reserves for deletions (vaultd(8)), because a full disk must
/// not prevent a backup onto another one. A backup beside the store would take that room for itself, and then nothing
/// could be deleted. Only the client knows where the backup goes, so the client refuses that.
struct BackupRoom {
  /// The number of bytes that the daemon reserves.
  private static let reserve = 6 << 20

  private let store: String

  /// Nil if the backup cannot take the reserved room: nothing is reserved, the backup goes to another file system, or
  /// the client cannot tell.
  ///
  /// - Parameter file: the target, where - is standard output.
  init?(for file: String, _ session: Session) throws(Failure) {
    let status = try session.attempt { vault in try vault.status() }
    guard let store = status?.store, let device = Self.device(of: store), device == Self.device(ofTarget: file),
      FreeSpace(at: store)?.isRoomKept == true
    else { return nil }
    self.store = store
  }

  /// Checks that the backup leaves the reserved room for deletions.
  ///
  /// - Parameter size: the size of the backup in bytes; nil for the size of the store, as long as it is not known.
  func check(_ size: Int? = nil) throws(Failure) {
    guard let space = FreeSpace(at: store) else { return }
    let need = size ?? ["vault.db", "vault.db-wal"].reduce(0) { $0 + Self.size(of: "\(store)/\($1)") }
    guard !Self.holds(need, free: space.bytes, isReserved: space.isRoomKept) else { return }
    throw Failure(
      .io, "the disk of the store has no room for a backup beside the store", "give a file on another disk")
  }

  /// Decides whether a backup fits without the reserved room.
  ///
  /// - Parameter isReserved: false if the free bytes contain the room that was reserved before.
  static func holds(_ need: Int, free: Int, isReserved: Bool) -> Bool {
    free - (isReserved ? 0 : reserve) >= need
  }

  /// The file system of standard output, if that is a regular file, or of the folder of a file; nil if the folder
  /// cannot be examined.
  private static func device(ofTarget file: String) -> dev_t? {
    guard file == "-" else {
      return device(of: file.lastIndex(of: "/").map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? ".")
    }
    var status = stat()
    guard unsafe fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status.st_dev
  }

  private static func device(of path: String) -> dev_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_dev : nil
  }

  private static func size(of path: String) -> Int {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

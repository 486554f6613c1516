internal import Glibc
internal import VaultModel

/// The free space on the file system of the store.
struct FreeSpace {
  /// The number of bytes below which a person should free some space.
  static let low = 16 << 20
  let bytes: Int
  /// True if the daemon has reserved some room for deletions, which it does only if there is enough free space.
  let isRoomKept: Bool

  /// Nil if the free space cannot be determined.
  init?(at path: String) {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return nil }
    let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    self.bytes = overflow ? .max : Int(clamping: bytes)
    isRoomKept = unsafe access("\(path)/vault.room", F_OK) == 0
  }

  var diagnosis: Diagnosis {
    let text = "\(Counted.size(bytes)) are free where the store is"
    guard bytes < Self.low else { return .ok("space", text) }
    let rest =
      isRoomKept
      ? "\(Hint.vault("rm")) still deletes" : "there was too little room to reserve space for \(Hint.vault("rm"))"
    return .warn("space", text, fix: "free some: on a full disk nothing can be stored, and \(rest)")
  }
}

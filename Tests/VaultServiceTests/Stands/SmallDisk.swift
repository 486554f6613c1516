import CFaultyDisk
import CSQLite
import Glibc

/// A disk for the store of a stand, which is full when the test says so. It is watched before the store is opened.
@safe final class SmallDisk {
  private let disk: OpaquePointer

  init(_ store: String) { unsafe disk = faulty_disk_watch(store) }

  /// The store must be closed before.
  deinit { unsafe faulty_disk_forget(disk) }

  /// - Parameter writes: the number of writes that the disk still takes.
  func fill(after writes: Int = 0) { unsafe faulty_disk_fail(disk, Int64(writes), SQLITE_FULL, ENOSPC, 0) }

  func free() { unsafe faulty_disk_fail(disk, -1, 0, 0, 0) }

  /// The number of writes that were refused since the disk is full.
  var refused: Int { Int(unsafe faulty_disk_failures(disk)) }
}

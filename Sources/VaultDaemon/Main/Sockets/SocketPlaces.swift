internal import CLinux
internal import Glibc
internal import VaultService

/// The places of the daemon's sockets in the file system. Nobody can connect to a socket that has lost its place: its
/// file was removed or replaced, or the folder above it was removed, moved, unmounted or covered.
///
/// Nothing is polled: inotify(7) tells of changes in the folders, and the table of mounts of changes of mounts, because
/// inotify does not tell of a lazy unmount (umount2(2), MNT_DETACH).
struct SocketPlaces {
  private struct Place {
    let path: String
    let device: dev_t
    let inode: ino_t

    init?(_ path: String) {
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
      (self.path, device, inode) = (path, status.st_dev, status.st_ino)
    }

    /// True while the path leads to the same socket. The daemon has the socket open, so no other file gets its number.
    var isHeld: Bool {
      guard let now = Place(path) else { return false }
      return now.device == device && now.inode == inode
    }
  }

  private let places: [Place]

  /// Notes where the sockets are. A path at which there is no socket is left out.
  init(_ paths: [String]) { places = paths.compactMap(Place.init) }

  /// The path of the first socket, if it has lost its place.
  var lost: String? { places.first.flatMap { $0.isHeld ? nil : $0.path } }

  /// Removes the sockets. What others have put in their place stays: it may be the socket of the next daemon.
  func remove() { for place in places where place.isHeld { unsafe unlink(place.path) } }

  /// Runs `changed` each time that something was mounted or unmounted.
  func watchMounts(with watcher: DescriptorWatcher, _ changed: @escaping () -> Void) throws(SystemError) {
    let mounts = try SystemError.check(
      "open /proc/self/mountinfo", unsafe vault_open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC))
    try watcher.watch(mounts, for: .exceptional, changed)
  }

  /// Runs `changed` each time that something in the first socket's folder was removed or moved, or a folder above it
  /// was moved.
  ///
  /// - Throws: an error also while the user's programs have as many instances of inotify(7) as one user may have.
  func watchFolders(with watcher: DescriptorWatcher, _ changed: @escaping () -> Void) throws(SystemError) {
    guard let path = places.first?.path else { return }
    let events = try SystemError.check("inotify_init1", inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)))
    do throws(SystemError) {
      try Self.add(Self.parent(of: path), to: events)
      try watcher.watch(events) {
        Self.drain(events)
        changed()
      }
    } catch {
      close(events)
      throw error
    }
  }

  private static func add(_ folder: String, to events: Int32) throws(SystemError) {
    try SystemError.check(
      "inotify_add_watch \(folder)",
      unsafe inotify_add_watch(
        events, folder,
        UInt32(IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF) | UInt32(IN_ONLYDIR)))
    // A folder further up can only be moved while there is something in it. One that cannot be read is not watched.
    var folder = folder
    while folder != "/" {
      folder = parent(of: folder)
      _ = unsafe inotify_add_watch(events, folder, UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR))
    }
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Takes all events; each of them only means that the places are to be looked at.
  private static func drain(_ events: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while unsafe read(events, &buffer, buffer.count) > 0 {}
  }
}

internal import CLinux
internal import Glibc
internal import Logging
internal import VaultService

/// A watch on the places of some files: it tells when one of their paths may lead elsewhere.
///
/// Nothing is polled: inotify(7) reports changes in the folders, and the mount table reports changes of mounts, because
/// inotify does not report a lazy unmount (umount2(2), MNT_DETACH).
final class PlaceWatch {
  private let paths: [String]
  private let watcher: DescriptorWatcher
  private let timer: Timer
  private let log: Logger
  private let changed: () -> Void
  /// The instance of inotify(7); nil until there is one.
  private var events: Int32?
  /// The numbers of the watches, by their folders.
  private var watches: [String: Int32] = [:]
  /// The pause before the next attempt to watch all folders, in nanoseconds.
  private var pause = Timeouts.leastWatchPause
  /// Cancels the next attempt to watch all folders; nil if all are watched.
  private var cancelRetry: (() -> Void)?

  /// The events of every folder on a path, and the further events of a folder whose names count.
  private static let (moves, changes) = (
    UInt32(IN_MOVE_SELF), UInt32(IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF)
  )

  /// - Parameters:
  ///   - paths: the absolute paths. The last name of each need not exist yet.
  ///   - changed: runs after each change that may concern a path, and after each attempt to watch the folders.
  init(
    _ paths: [String], with watcher: DescriptorWatcher, _ timer: Timer, _ log: Logger, _ changed: @escaping () -> Void
  ) {
    self.paths = paths
    self.watcher = watcher
    self.timer = timer
    self.log = log
    self.changed = changed
  }

  /// Begins to watch. The user's other programs may have all instances or all watches of inotify(7) now, so a failure
  /// is followed by further attempts.
  func begin() {
    do throws(SystemError) { try watchMounts() } catch {
      log.warning("if a folder of the socket or of the store is unmounted, this daemon does not notice it: \(error)")
    }
    look()
  }

  /// Watches the folders to which the paths lead now, and runs `changed`.
  func look() {
    do throws(SystemError) {
      try watchFolders()
      if pause > Timeouts.leastWatchPause { log.info("the places of the socket and of the store are watched now") }
      pause = Timeouts.leastWatchPause
      cancelRetry?()
      cancelRetry = nil
    } catch {
      if pause == Timeouts.leastWatchPause {
        log.info("if the socket or the store is moved or removed, this daemon may not notice it yet: \(error)")
      }
      if cancelRetry == nil { retryLater() }
    }
    changed()
  }

  private func retryLater() {
    let next = pause
    pause = min(2 * pause, Timeouts.mostWatchPause)
    cancelRetry = timer.after(next) { [unowned self] in
      cancelRetry = nil
      look()
    }
  }

  private func watchMounts() throws(SystemError) {
    let mounts = try SystemError.check(
      "open /proc/self/mountinfo", unsafe vault_open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC))
    try watcher.watch(mounts, for: .exceptional) { [unowned self] in look() }
  }

  /// - Throws: the last error, after every folder that can be watched is watched.
  private func watchFolders() throws(SystemError) {
    let events = try instance()
    let folders = paths.map(PathFolders.init)
    let wanted = folders.reduce(into: Set<String>()) { $0.formUnion($1.holders.union($1.all)) }
    for (folder, watch) in watches where !wanted.contains(folder) {
      inotify_rm_watch(events, watch)
      watches[folder] = nil
    }
    var failure: SystemError?
    // All are added anew, because the watch of a folder ends with the folder, and another one may be in its place.
    for folder in wanted {
      let isHolder = folders.contains { $0.holders.contains(folder) }
      let wishes = Self.moves | (isHolder ? Self.changes : 0) | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)
      let watch = unsafe inotify_add_watch(events, folder, wishes)
      if watch >= 0 {
        watches[folder] = watch
        continue
      }
      switch errno {
      // The path leads nowhere, which `changed` finds out.
      case ENOENT, ENOTDIR, ELOOP: watches[folder] = nil
      // A folder that this user cannot read cannot be watched; the folders whose names count are the user's own.
      case EACCES where !isHolder: watches[folder] = nil
      case let code: failure = SystemError(call: "inotify_add_watch \(folder)", code: code)
      }
    }
    if let failure { throw failure }
  }

  private func instance() throws(SystemError) -> Int32 {
    if let events { return events }
    let made = try SystemError.check("inotify_init1", inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)))
    do throws(SystemError) {
      try watcher.watch(made) { [unowned self] in
        Self.drain(made)
        look()
      }
    } catch {
      close(made)
      throw error
    }
    events = made
    return made
  }

  /// Takes all events; each of them only means that the places are to be looked at.
  private static func drain(_ events: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while unsafe read(events, &buffer, buffer.count) > 0 {}
  }
}

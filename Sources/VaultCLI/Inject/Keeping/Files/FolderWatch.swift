internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultProcess

/// Reports changes of files by watching the folders in which their names stand, and the files themselves.
///
/// A program that replaces a file puts another one in its place, while the folder stays. A path may also come to lead
/// elsewhere, so each folder in which a part of the path is looked up is watched for that part's name. The file itself
/// is watched because it may change by another path, as through a bind mount. What inotify(7) does not report, such as
/// a change by another machine, is found by looking from time to time.
final class FolderWatch {
  /// The watched events of the file's folder, and of the file.
  private static let events =
    UInt32(
      IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB)
  /// The events of the folders on the way.
  private static let eventsOnTheWay = UInt32(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF)
  /// The milliseconds between two looks, and the shorter pause that applies while ``isBlind``.
  private static let (pause, shortPause) = (60_000, 2000)
  /// The most symbolic links on the way to a file; the kernel follows as many.
  private static let mostLinks = 40

  /// A descriptor that is readable if there are events (inotify(7)).
  let descriptor: Int32
  private let paths: [String]
  /// The names to watch in each folder, by the number of its watch. A watched file has none.
  private var names: [Int32: Set<String>] = [:]
  /// The last parts of the paths.
  private let lastNames: Set<String>
  /// More names to watch, in any of the folders.
  var others: Set<String> = []
  /// True if there is a folder that cannot be watched, or whose file system does not report all changes.
  private var isBlind = false
  /// The states of the files at the last look.
  private var states: [State] = []
  /// The time of the next look, on the clock of ``Moment``.
  private(set) var nextLook = Int.max

  private struct State: Equatable {
    let device: dev_t
    let file: FileIdentity
    let changed: Int
    let changedPart: Int
  }

  init(_ paths: [String]) throws(Failure) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard descriptor >= 0 else { throw Self.failure(toWatch: nil, errno) }
    self.paths = paths
    lastNames = Set(paths.map { Self.split($0).name })
  }

  deinit { close(descriptor) }

  /// Returns the failure for an error of inotify(7), whose limits have error codes that mean something else elsewhere.
  ///
  /// - Parameter folder: the folder to watch; nil if inotify could not be started at all.
  static func failure(toWatch folder: String?, _ code: Int32) -> Failure {
    let event = "cannot watch \(folder.map { Printable.quoted($0) } ?? "files")"
    switch (folder, code) {
    case (nil, EMFILE):
      return Failure(
        .system, "\(event): this user's programs watch as many files as they may",
        "end one of them, or raise fs.inotify.max_user_instances (sysctl(8))")
    case (_?, ENOSPC):
      return Failure(
        .system, "\(event): this user's programs watch as many files as they may",
        "end one of them, or raise fs.inotify.max_user_watches (sysctl(8))")
    case (nil, _): return Failure(.system, "\(event): \(Output.describe(code))")
    case (_?, _): return Failure(.io, "\(event): \(Output.describe(code))", "check the folder")
    }
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  /// Starts to watch everything on the paths as they lead now. A folder that is already watched stays watched.
  func begin() throws(Failure) {
    for folder in Set(paths.map { Self.split($0).folder }) {
      guard unsafe inotify_add_watch(descriptor, folder, Self.events | Self.more | UInt32(IN_ONLYDIR)) < 0 else {
        continue
      }
      let code = errno
      // A folder that may not be read cannot be watched, but a file in it may be readable: it is looked at from time to
      // time.
      if code == EACCES { continue }
      throw Self.failure(toWatch: folder, code)
    }
    follow()
  }

  /// Watches everything on the paths as they lead now, and nothing else.
  private func follow() {
    let before = names
    (names, isBlind) = ([:], false)
    var watched: [Watched: Int32] = [:]
    for path in paths { follow(path, &watched) }
    for (watch, _) in before where names[watch] == nil { inotify_rm_watch(descriptor, watch) }
    states = present
    nextLook = Moment.now() + (isBlind ? Self.shortPause : Self.pause)
  }

  /// Follows a path name by name. Each folder is watched before the name is looked up in it, so that no change is
  /// missed.
  private func follow(_ path: String, _ watched: inout [Watched: Int32]) {
    var folder = path.hasPrefix("/") ? "/" : "."
    var rest = Array(path.split(separator: "/").reversed())
    var links = 0
    while let name = rest.popLast() {
      if name == "." { continue }
      let place = folder == "/" ? "/" + name : folder + "/" + name
      if name == ".." {
        folder = place
        continue
      }
      watch(Watched(path: folder, isLast: rest.isEmpty), for: String(name), &watched)
      var status = stat()
      guard unsafe lstat(place, &status) == 0 else {
        if errno != ENOENT { isBlind = true }
        return
      }
      switch status.st_mode & S_IFMT {
      case S_IFLNK:
        links += 1
        guard links <= Self.mostLinks, let target = SymbolicLink.target(of: place) else {
          isBlind = true
          return
        }
        if target.hasPrefix("/") { folder = "/" }
        rest += target.split(separator: "/").reversed()
      case S_IFDIR: folder = place
      default:
        if rest.isEmpty { watch(Watched(path: place, isLast: true), for: nil, &watched) }
        return
      }
    }
  }

  /// A folder on the way, or else the last folder or the file itself.
  private struct Watched: Hashable {
    let path: String
    let isLast: Bool
  }

  /// Watches a folder for a name, or a file.
  private func watch(_ place: Watched, for name: String?, _ watched: inout [Watched: Int32]) {
    var watch = watched[place] ?? -1
    if watch < 0 {
      let events = place.isLast ? Self.events : Self.eventsOnTheWay
      watch = unsafe inotify_add_watch(descriptor, place.path, events | Self.more | Self.notThrough)
      guard watch >= 0 else {
        isBlind = true
        return
      }
      if Self.mayBeSilent(place.path) { isBlind = true }
      watched[place] = watch
    }
    names[watch, default: []].formUnion(name.map { [$0] } ?? [])
  }

  /// IN_MASK_ADD: a watch that exists keeps its events.
  private static let more: UInt32 = 0x2000_0000
  /// IN_DONT_FOLLOW.
  private static let notThrough: UInt32 = 0x0200_0000

  /// Returns true for a file system that other machines or programs change without an event.
  private static func mayBeSilent(_ path: String) -> Bool {
    var status = statfs()
    guard unsafe statfs(path, &status) == 0 else { return true }
    return silent.contains(UInt32(truncatingIfNeeded: status.f_type))
  }

  /// The types of file systems that may change without an event (statfs(2)): NFS, SMB, 9P, FUSE, Ceph and AFS.
  private static let silent: Set<UInt32> = [
    0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x0102_1997, 0x6573_5546, 0x00C3_6400, 0x5346_414F,
  ]

  /// Takes the events since the last call; returns true if one of the files may have changed.
  func take() -> Bool {
    var isAny = false
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      var at = 0
      while at + 16 <= count {
        let length = Int(Self.word(buffer, at + 12))
        let name = buffer[at + 16..<min(count, at + 16 + length)].prefix { $0 != 0 }
        let watch = Int32(bitPattern: Self.word(buffer, at))
        if concerns(watch, String(decoding: name, as: UTF8.self), Self.word(buffer, at + 4)) { isAny = true }
        at += 16 + length
      }
    }
    if isAny { follow() }
    return isAny
  }

  /// Looks at the files if it is time to; returns true if one of them has changed.
  func lookIfDue() -> Bool {
    guard nextLook <= Moment.now() else { return false }
    let before = states
    follow()
    return states != before
  }

  private func concerns(_ watch: Int32, _ name: String, _ events: UInt32) -> Bool {
    // IN_IGNORED: the watch was taken away.
    if events & 0x8000 != 0 { return names[watch] != nil }
    // An event without a name is about a watched folder or file, or says that events were missed.
    if name.isEmpty { return watch < 0 || names[watch] != nil }
    guard names[watch]?.contains(name) ?? false || others.contains(name) else { return false }
    // IN_ISDIR: a new folder on the way, which is not watched yet.
    if events & 0x4000_0000 != 0 { return true }
    return events & UInt32(IN_CREATE) == 0 || !lastNames.contains(name) || !isBegun(name)
  }

  /// Returns true if a program has just made a file under the name. The end of its writing is reported as another
  /// event.
  private func isBegun(_ name: String) -> Bool {
    paths.contains { path in
      var status = stat()
      guard Self.split(path).name == name, unsafe lstat(path, &status) == 0 else { return false }
      return status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1
    }
  }

  private var present: [State] {
    paths.map { path in
      var status = stat()
      _ = unsafe stat(path, &status)
      return State(
        device: status.st_dev, file: FileIdentity(status), changed: status.st_ctim.tv_sec,
        changedPart: status.st_ctim.tv_nsec)
    }
  }

  /// Reads an integer field of a struct inotify_event, in the machine's byte order.
  private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    // Four bytes lie there, and any bit pattern is an integer.
    unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: at, as: UInt32.self) }
  }
}

internal import CLinux
internal import Glibc
internal import VaultModel

/// The changes that `vault secret-service enable` has made in the user's files, remembered until `disable` undoes them.
///
/// Each change is written down before it is made, with what was there before. So a run that is interrupted at any point
/// can be made again, and undone. Runs at the same time wait for each other.
struct OwnChanges {
  private static let header = "vault secret-service 1"

  let path: String
  private(set) var changes: [OwnChange]
  private let lock: FolderLock?

  /// Waits until no other run changes anything, and reads the record; it is empty if there is none.
  ///
  /// - Parameter makesFolder: true for a run that will write the record.
  init(_ path: String, makesFolder: Bool = false) throws(Failure) {
    self.path = path
    changes = []
    if makesFolder { for folder in Folders.missing(for: path) { try Folders.make(folder) } }
    lock = try FolderLock(of: path)
    try read()
  }

  /// Releases the lock, so that other runs can continue. No change may follow.
  func close() { lock?.release() }

  private mutating func read() throws(Failure) {
    guard FileState(path).exists else { return }
    guard let text = FileInput.text(of: path, limit: 1 << 20) else {
      throw Failure(.io, "cannot read \(Printable.quoted(path))", "make it a readable file")
    }
    let lines = text.split(separator: "\n")
    let read = lines.dropFirst().map { OwnChange(line: $0) }
    guard lines.first == Self.header[...], !read.contains(nil) else {
      throw Failure(
        .invalid, "\(Printable.quoted(path)) does not say what vault has changed",
        "remove it, and undo the changes by hand")
    }
    changes = read.compactMap { $0 }
  }

  /// Makes a place have this content; returns true if it was changed now. What somebody else has put there meanwhile is
  /// remembered as what was there before.
  mutating func put(_ made: PlaceContent, at path: String) throws(Failure) -> Bool {
    let present = PlaceContent(of: path)
    guard present != made else { return false }
    guard present != .other else {
      throw Failure(.exists, "\(Printable.quoted(path)) is in the way", "move it away, and run this again")
    }
    let (former, mode) = former(of: path, present)
    try make(.content(path: path, made: made, former: former, mode: mode))
    return true
  }

  /// Returns the content that `disable` restores, with its mode. If an earlier run has made the change, this is the
  /// content that the run recorded, even if somebody has edited the file since. If not, it is the present content, or
  /// none for a file that vault made without a record.
  private func former(of path: String, _ present: PlaceContent) -> (content: PlaceContent, mode: mode_t?) {
    for case .content(path, let made, let former, let mode) in changes where present == made || present.isOwn {
      return (former, mode)
    }
    return present.isOwn ? (.missing, nil) : (present, PlaceContent.mode(of: path))
  }

  /// Gives a setting this value; returns true if it was changed now.
  mutating func set(_ key: String, to value: String, in path: String) throws(Failure) -> Bool {
    let present = SettingEdit(path).value(of: key)
    guard present != value else { return false }
    try make(.setting(path: path, key: key, value: value, former: present))
    return true
  }

  /// Writes a change down, and makes it, with the folders that it needs.
  private mutating func make(_ change: OwnChange) throws(Failure) {
    for folder in Folders.missing(for: change.path) {
      remember(.folder(path: folder))
      try write()
      try OwnChange.folder(path: folder).make()
    }
    remember(change)
    try write()
    try change.make()
  }

  /// Puts a change at the end of the record. A folder that was made before keeps its place.
  private mutating func remember(_ change: OwnChange) {
    if case .folder = change, changes.contains(change) { return }
    changes.removeAll { $0.path == change.path && $0 != change }
    if !changes.contains(change) { changes.append(change) }
  }

  /// Undoes everything, the last change first.
  ///
  /// - Returns: the places that are as they were before, and those that somebody has changed since and that stay.
  mutating func undo() throws(Failure) -> (undone: [String], kept: [String]) {
    var (undone, kept): ([String], [String]) = ([], [])
    // Folders go last: nothing of ours is left in them then.
    let files = changes.filter { if case .folder = $0 { false } else { true } }
    let folders = changes.filter { if case .folder = $0 { true } else { false } }
    for change in files.reversed() + folders.reversed() {
      switch try change.undo() {
      case .done: if case .folder = change {} else { undone.append(change.path) }
      case .needless: break
      case .kept: kept.append(change.path)
      }
      changes.removeAll { $0 == change }
      try write()
    }
    return (undone, kept)
  }

  /// Writes the record, or removes it once nothing is left to undo.
  private func write() throws(Failure) {
    guard !changes.isEmpty else { return try PlaceContent.missing.put(at: path) }
    for folder in Folders.missing(for: path) { try Folders.make(folder) }
    let text = ([Self.header] + changes.map(\.line)).map { $0 + "\n" }.joined()
    let file = try NewFile(path, replaces: true)
    try file.write(unsafe text.utf8.span.bytes)
    try file.finish()
  }
}

/// A lock that only one process has, on the folder of a file.
private final class FolderLock {
  private var descriptor: Int32

  /// Waits for the lock. Nil if there is no such folder.
  init?(of file: String) throws(Failure) {
    let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
    descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw NewFile.failure("lock \(folder)", errno)
    }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw NewFile.failure("lock \(folder)", errno) }
    }
  }

  deinit { release() }

  func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}

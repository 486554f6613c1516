internal import CLinux
internal import Glibc
internal import VaultModel

/// A file that is written under a temporary name beside its final one, until all of it is on the disk.
///
/// The folder is the one that the path named at the beginning, wherever the path leads later. A file that is given up
/// leaves nothing behind. A process that SIGKILL ends leaves the temporary file, named `.vault-new-` and six
/// characters, unless it is a ``FleetingFile``.
final class NewFile {
  let path: String
  /// The folder, as an O_PATH descriptor.
  let folder: Int32
  /// The final and the temporary name in the folder.
  let name: String
  let part: String
  /// True while the file has no name at all.
  private var isNameless = false
  private let replaces: Bool
  private let mode: mode_t
  private(set) var descriptor: Int32
  /// True once `deinit` must not remove the temporary file.
  var isDone = false

  /// Writes a file with `body`. The descriptor that `body` gets becomes readable when the writing must stop. If a
  /// signal such as control-C or an error ends the writing early, no file remains.
  ///
  /// - Throws: the errors of ``init(_:replaces:)``, `body` and ``finish()``.
  static func write<R>(
    _ path: String, replaces: Bool, _ body: (NewFile, _ cancellation: Int32) throws -> R
  ) throws -> R {
    let signals = try SignalPipe(SignalPipe.ending)
    do {
      let file = try NewFile(path, replaces: replaces, isFleeting: true)
      let result = try body(file, signals.descriptor)
      try file.finish()
      return result
    } catch {
      if let number = signals.next() { signals.deliver(number) }
      throw error
    }
  }

  /// Writes a text to a file; see ``write(_:replaces:_:)``.
  static func write(_ text: String, to path: String, replaces: Bool) throws {
    try write(path, replaces: replaces) { file, _ in try file.write(unsafe text.utf8.span.bytes) }
  }

  /// Makes the file. Its mode is 0600 until all of it is written.
  ///
  /// - Parameters:
  ///   - replaces: whether the new file replaces an existing one.
  ///   - mode: the final mode of the file.
  ///   - isOfVault: true for a settings file of vault's own programs, which no command replaces otherwise.
  ///   - isFleeting: true for a file that must go away with the process; until it is finished, nobody else may use its
  ///     temporary name.
  /// - Throws: ``Failure`` if a file is there that must stay, or the folder is not writable.
  init(
    _ path: String, replaces: Bool, mode: mode_t = 0o600, isOfVault: Bool = false, isFleeting: Bool = false
  ) throws(Failure) {
    try Self.check(path, replaces: replaces, isOfVault: isOfVault)
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let folder = unsafe open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw Self.failure("make a file in \(parent)", errno) }
    var part = ""
    var descriptor: Int32 = -1
    if isFleeting, let file = FleetingFile(in: folder) {
      (part, descriptor, isNameless) = (file.part, file.descriptor, file.isNameless)
    }
    // The names are random, so a name that is taken says nothing about the next one.
    for _ in 0..<100 where descriptor < 0 && !isFleeting {
      part = Self.partPrefix + Self.randomCharacters()
      descriptor = unsafe openat(folder, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      if descriptor < 0, errno != EEXIST { break }
    }
    guard descriptor >= 0 else {
      let code = errno
      close(folder)
      throw Self.failure("make a file in \(parent)", code)
    }
    (self.path, self.folder, self.part, self.descriptor) = (path, folder, part, descriptor)
    name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    self.replaces = replaces
    self.mode = mode
  }

  /// The path of the temporary file.
  var partPath: String { path.dropLast(name.count) + part }

  /// The beginning of the temporary name.
  static let partPrefix = ".vault-new-"

  /// Six random characters for a temporary name.
  static func randomCharacters() -> String { String((0..<6).map { _ in characters.randomElement() ?? "x" }) }

  private static let characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

  /// Gives the file to another owner before it gets its final name.
  func give(to uid: uid_t, _ gid: gid_t) throws(Failure) {
    guard fchown(descriptor, uid, gid) == 0 else { throw Self.failure("give \(path) to its owner", errno) }
  }

  deinit {
    if !isDone, !isNameless { unsafe unlinkat(folder, part, 0) }
    end()
    close(folder)
  }

  /// Closes the descriptor, so that this program no longer has the file open for writing.
  func end() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  /// Throws unless a new file can have that name.
  static func check(_ path: String, replaces: Bool, isOfVault: Bool = false) throws(Failure) {
    guard !path.isEmpty, path.last != "/" else {
      throw Failure(.usage, "\(Printable.quoted(path)) is not the name of a file", "name a file")
    }
    if !isOfVault { try VaultFiles.check(path) }
    try check(path, at: path, in: AT_FDCWD, replaces: replaces)
  }

  private static func check(_ name: String, at path: String, in folder: Int32, replaces: Bool) throws(Failure) {
    var status = stat()
    guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.exists, "\(Printable.quoted(path)) is \(kind(status)), so it stays", another(path))
    }
    guard replaces else { throw exists(path) }
  }

  private static func another(_ path: String) -> String {
    guard ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path) else { return "name another file" }
    return "- is the name of standard output, where the command can write to it"
  }

  /// A word for a file that is no regular file.
  private static func kind(_ status: stat) -> String {
    switch status.st_mode & S_IFMT {
    case S_IFLNK: "a symbolic link"
    case S_IFDIR: "a folder"
    default: "not a regular file"
    }
  }

  /// Writes the next bytes.
  func write(_ bytes: RawSpan) throws(Failure) {
    var rest = bytes
    while rest.byteCount > 0 {
      // The bytes are lent for one call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.extracting(droppingFirst: count)
      } else if errno != EINTR {
        throw Self.failure("write \(path)", errno)
      }
    }
  }

  /// Waits until all of the file is on the disk, then gives it its final name.
  func finish() throws(Failure) {
    try sync()
    try takeName()
  }

  /// Sets the final mode, then waits until all of the file is on the disk.
  func sync() throws(Failure) {
    var status = stat()
    // The process's umask may have removed permissions. Some file systems have no modes: a mode that cannot be set
    // there is an error, except for 0600.
    let isRight = unsafe fstat(descriptor, &status) == 0 && status.st_mode & 0o7777 == mode
    if !isRight, fchmod(descriptor, mode) != 0, mode != 0o600 {
      throw Self.failure("set the mode of \(path)", errno)
    }
    guard fsync(descriptor) == 0 else { throw Self.failure("write \(path)", errno) }
  }

  private func takeName() throws(Failure) {
    if replaces {
      try takePartName()
      guard unsafe renameat(folder, part, folder, name) == 0 else { throw Self.failure("name \(path)", errno) }
    } else {
      try linkInPlace()
    }
    isDone = true
    syncFolder()
  }

  /// Gives a file without a name its temporary name, because only a file with a name can replace another one.
  private func takePartName() throws(Failure) {
    guard isNameless else { return }
    guard FleetingFile.link(descriptor, as: part, in: folder) else { throw Self.failure("name \(path)", errno) }
    isNameless = false
  }

  /// Gives the file its final name without replacing another file.
  private func linkInPlace() throws(Failure) {
    if isNameless {
      if FleetingFile.link(descriptor, as: name, in: folder) { return }
      guard errno == EEXIST else { throw Self.failure("name \(path)", errno) }
      try Self.check(name, at: path, in: folder, replaces: false)
      throw Self.exists(path)
    }
    if unsafe linkat(folder, part, folder, name, 0) == 0 {
      unsafe unlinkat(folder, part, 0)
      return
    }
    // A file system without hard links may know a rename that replaces nothing.
    if errno != EEXIST, unsafe vault_rename_new(folder, part, name) == 0 { return }
    let hasFound = errno == EEXIST
    try Self.check(name, at: path, in: folder, replaces: false)
    if hasFound { throw Self.exists(path) }
    // Otherwise the check just before the rename must suffice.
    guard unsafe renameat(folder, part, folder, name) == 0 else { throw Self.failure("name \(path)", errno) }
  }

  func syncFolder() {
    let opened = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // If the folder cannot be opened or its file system cannot sync it, the file is still good.
    guard opened >= 0 else { return }
    fsync(opened)
    close(opened)
  }

  private static func exists(_ path: String) -> Failure {
    Failure(.exists, "\(Printable.quoted(path)) already exists", "give --force to replace it, or another name")
  }

  /// Returns true for the errors of a full disk or quota.
  static func isFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

  static func failure(_ what: String, _ code: Int32) -> Failure {
    guard code != EBUSY else {
      return Failure(
        .io, "cannot \(Printable.text(what)): it is a mount point, which no other file can replace",
        "mount its folder instead, or name another file")
    }
    var failure = Failure(
      .io, "cannot \(Printable.text(what)): \(Output.describe(code))",
      advice(code))
    failure.isOfFullDisk = isFull(code)
    return failure
  }

  private static func advice(_ code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "make room on its disk"
    case ENOENT: "make the folder, or mount its disk"
    case ENOTDIR: "name a file in a folder"
    case EACCES, EPERM: "check the owner and the mode of the folder"
    case EROFS: "that disk is mounted read-only; name a file elsewhere"
    case ENAMETOOLONG: "give a shorter name"
    default: "check the folder and its disk"
    }
  }
}

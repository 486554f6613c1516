internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// A file for an editor, in memory and in a folder that nobody else can enter. Both are removed when this struct is
/// destroyed, together with all files that the editor put beside the file.
///
/// The file's name says nothing about the item, because every user who lists the machine's processes sees it.
struct EditedFile: ~Copyable {
  private static let name = "value.txt"
  private let place: String
  /// A descriptor of the folder, which stays right if the folder is moved or something else takes its place.
  private let folder: Int32
  var path: String { "\(place)/\(Self.name)" }

  private init(in place: String) throws(Failure) {
    folder = unsafe Glibc.open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    self.place = place
    guard folder >= 0 else { throw Self.failure(place) }
  }

  /// Makes a file that holds `text`.
  ///
  /// - Throws: ``Failure`` if there is no folder in memory, or no room in it.
  static func make(_ text: borrowing SecretBuffer) throws(Failure) -> EditedFile {
    let file = try EditedFile(in: try makeFolder())
    let descriptor = unsafe openat(file.folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(file.path) }
    defer { close(descriptor) }
    try text.withBytes { bytes throws(Failure) in try Output.write(bytes, to: descriptor) }
    return file
  }

  deinit {
    Self.empty(folder)
    if isInPlace, unsafe rmdir(place) != 0 {
      // An editor that is still running may have put a file there meanwhile.
      Self.empty(folder)
      if unsafe rmdir(place) != 0 {
        Output.note("cannot remove \(place): \(Output.describe(errno)); remove it by hand")
      }
    }
    close(folder)
  }

  private var isInPlace: Bool {
    var (mine, there) = (stat(), stat())
    return unsafe fstat(folder, &mine) == 0 && lstat(place, &there) == 0 && mine.st_dev == there.st_dev
      && mine.st_ino == there.st_ino
  }

  /// Returns the present content of the file.
  borrowing func read() throws(Failure) -> SecretBuffer {
    let descriptor = unsafe openat(folder, Self.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT:
        throw Failure(
          .io, "the editor has removed the file that it was given", "nothing was stored; see $VISUAL and $EDITOR")
      case ELOOP: throw Self.replaced
      default: throw Self.failure(path)
      }
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Self.replaced }
    // The limit is above that of a value, so that a person can shorten a text that is too long.
    return try FileInput.readAll(descriptor, limit: Self.limit, name: "the edited value")
  }

  private static let limit = 64 << 20

  private static var replaced: Failure {
    Failure(
      .io, "the editor has replaced the file that it was given with something else",
      "nothing was stored; see $VISUAL and $EDITOR")
  }

  private static func failure(_ path: String) -> Failure { Failure(.io, "\(path): \(Output.describe(errno))") }

  /// Makes a new folder of mode 0700 below the first place that is in memory.
  private static func makeFolder() throws(Failure) -> String {
    for place in [Environment.variable("XDG_RUNTIME_DIR") ?? RuntimeDirectory.found(), "/dev/shm"] {
      guard let place, place.hasPrefix("/"), isInMemory(place) else { continue }
      var template = Array("\(place)/vault-XXXXXX".utf8CString)
      // The template ends with a NUL, and mkdtemp(3) overwrites only the six letters before it.
      guard unsafe mkdtemp(&template) != nil else { continue }
      return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    throw Failure(
      .configuration, "there is no folder in memory for the value: neither XDG_RUNTIME_DIR nor /dev/shm is a tmpfs",
      "mount a tmpfs")
  }

  /// Returns true for a tmpfs or ramfs (statfs(2)).
  private static func isInMemory(_ place: String) -> Bool {
    var system = statfs()
    return unsafe statfs(place, &system) == 0 && [0x0102_1994, 0x8584_58F6].contains(Int(system.f_type))
  }

  /// Removes everything in a folder. Files are overwritten first, because the kernel does not wipe their memory when it
  /// frees it.
  private static func empty(_ folder: Int32) {
    fchmod(folder, 0o700)
    // The stream closes its descriptor.
    let copy = fcntl(folder, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return }
    guard let stream = unsafe fdopendir(copy) else {
      close(copy)
      return
    }
    defer { unsafe closedir(stream) }
    // Both descriptors share one position in the folder.
    unsafe rewinddir(stream)
    while let entry = unsafe readdir(stream) {
      // The name is kept as bytes, because an editor may name its copy in any encoding. The kernel ends the name with a
      // NUL.
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) + [0] }
        .map { CChar(bitPattern: $0) }
      if name == [0x2E, 0] || name == [0x2E, 0x2E, 0] { continue }
      if let inner = open(name, in: folder) {
        empty(inner)
        close(inner)
        unsafe unlinkat(folder, name, AT_REMOVEDIR)
      } else {
        overwrite(name, in: folder)
        unsafe unlinkat(folder, name, 0)
      }
    }
  }

  /// Opens a folder within another one; nil for anything else.
  private static func open(_ name: [CChar], in folder: Int32) -> Int32? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    var inner = unsafe openat(folder, name, flags)
    // Only a folder can cause EACCES here: for anything else, the kernel fails before it checks the mode.
    if inner < 0, errno == EACCES, unsafe fchmodat(folder, name, 0o700, AT_SYMLINK_NOFOLLOW) == 0 {
      inner = unsafe openat(folder, name, flags)
    }
    return inner < 0 ? nil : inner
  }

  /// Overwrites a file, unless it has several names: another name may belong to somebody who wants to keep the file.
  private static func overwrite(_ name: [CChar], in folder: Int32) {
    let descriptor = unsafe openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      return
    }
    let zeros = [UInt8](repeating: 0, count: 64 << 10)
    var left = Int(status.st_size)
    while left > 0 {
      let written = unsafe zeros.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, min(left, $0.count)) }
      guard written > 0 else { return }
      left -= written
    }
  }
}

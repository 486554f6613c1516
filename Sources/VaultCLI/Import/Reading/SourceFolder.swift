internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A walk through a folder that is imported, with all folders in it, in the order of the names' bytes.
///
/// The walk follows no symbolic link and stays on the folder's own file system, and it opens regular files only: to
/// open a device or a pipe could have an effect. Whatever it passes over is counted.
final class SourceFolder {
  /// The most folders within each other, and the most names in all of them.
  private static let most = (depth: 64, names: 1 << 20)

  /// A folder that the walk has entered.
  private struct Level {
    let descriptor: Int32
    /// The path of the folder, with a slash at its end; empty for the outermost one.
    let prefix: String
    /// The names that are left, in reverse order.
    var names: [String]
  }

  private var levels: [Level] = []
  private let device: dev_t
  private let takes: (String) -> Bool
  private var count = 0
  /// The things that were passed over, in the plural, with the number of names.
  private(set) var passedOver: [(reason: String, count: Int)] = []

  /// A file that the walk has found.
  struct File {
    /// The open file, which whoever receives it closes.
    let descriptor: Int32
    /// The path relative to the folder.
    let path: String
    let status: stat
  }

  /// Begins a walk.
  ///
  /// - Parameters:
  ///   - descriptor: the folder, which the walk closes.
  ///   - takes: returns false for names that are passed over because of how they begin.
  init(_ descriptor: Int32, takes: @escaping (String) -> Bool) throws(Failure) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      close(descriptor)
      throw Failure(.io, "cannot read the folder: \(Output.describe(errno))")
    }
    (device, self.takes) = (status.st_dev, takes)
    try enter(descriptor, prefix: "")
  }

  deinit { for level in levels { close(level.descriptor) } }

  /// Returns the next file; nil at the end.
  func next() throws(Failure) -> File? {
    while var level = levels.popLast() {
      guard let name = level.names.popLast() else {
        close(level.descriptor)
        continue
      }
      levels.append(level)
      if let file = try visit(name, level) { return file }
    }
    return nil
  }

  private func visit(_ name: String, _ level: Level) throws(Failure) -> File? {
    let path = level.prefix + name
    guard path.utf8.count <= ImportCall.longestPath else {
      throw Failure(.invalid, "the path \(Printable.quoted(path)) is longer than \(ImportCall.longestPath) bytes")
    }
    guard takes(name) else { return pass("names that begin with a dot") }
    var status = stat()
    guard unsafe fstatat(level.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw Failure(.io, "cannot look at \(Printable.quoted(path)): \(Output.describe(errno))")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: break
    case S_IFLNK: return pass("symbolic links")
    default: return pass("devices, pipes and sockets")
    }
    guard status.st_dev == device else { return pass("names on another file system") }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (isFolder ? O_DIRECTORY : 0)
    let descriptor = unsafe openat(level.descriptor, name, flags)
    var opened = stat()
    guard descriptor >= 0, unsafe fstat(descriptor, &opened) == 0, opened.st_ino == status.st_ino,
      opened.st_dev == status.st_dev
    else {
      let reason = descriptor < 0 ? Output.describe(errno) : "it was replaced meanwhile"
      if descriptor >= 0 { close(descriptor) }
      throw Failure(.io, "cannot open \(Printable.quoted(path)): \(reason)")
    }
    guard isFolder else { return File(descriptor: descriptor, path: path, status: opened) }
    try enter(descriptor, prefix: path + "/")
    return nil
  }

  private func pass(_ reason: String) -> File? {
    if let index = passedOver.firstIndex(where: { $0.reason == reason }) {
      passedOver[index].count += 1
    } else {
      passedOver.append((reason, 1))
    }
    return nil
  }

  private func enter(_ descriptor: Int32, prefix: String) throws(Failure) {
    guard levels.count < Self.most.depth else {
      close(descriptor)
      throw Failure(.invalid, "\(Printable.quoted(prefix)) is more than \(Self.most.depth) folders deep")
    }
    levels.append(Level(descriptor: descriptor, prefix: prefix, names: []))
    var names = try Self.names(in: descriptor, prefix)
    count += names.count
    guard count <= Self.most.names else { throw Failure(.invalid, "there are more than \(Self.most.names) files") }
    names.sort { $1.utf8.lexicographicallyPrecedes($0.utf8) }
    levels[levels.count - 1].names = names
  }

  /// The names in a folder. A name that is not UTF-8 cannot become an item's name, and so ends the walk.
  private static func names(in folder: Int32, _ prefix: String) throws(Failure) -> [String] {
    // The stream closes its descriptor.
    let readable = unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard readable >= 0, let stream = unsafe fdopendir(readable) else {
      let code = errno
      if readable >= 0 { close(readable) }
      throw Failure(.io, "cannot read \(Printable.quoted(prefix)): \(Output.describe(code))")
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      // The kernel ends the name with a NUL.
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8) { continue }
      guard let name = String(validating: bytes, as: UTF8.self) else {
        throw Failure(
          .invalid, "the name \(Printable.quoted(prefix + NameSegment.encode(bytes))) is not UTF-8",
          "rename the file; % and two digits stand for a byte")
      }
      guard names.count < most.names else { throw Failure(.invalid, "there are more than \(most.names) files") }
      names.append(name)
    }
    return names
  }
}

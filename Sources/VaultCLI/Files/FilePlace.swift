internal import CLinux
internal import Glibc
internal import VaultModel

/// The identity of a file: its device and inode, which are the same for all names that lead to the file.
struct FilePlace: Equatable {
  private let device: dev_t
  private let inode: ino_t

  /// The place of the file to which a path leads; nil if there is none.
  init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// The place of a descriptor's regular file; nil for a terminal, a pipe and everything else.
  init?(ofFile descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }

  /// The place of a file that a command reads; `-` means standard input.
  init?(ofInput path: String) {
    if path == "-" { self.init(ofFile: STDIN_FILENO) } else { self.init(path) }
  }
}

extension NewFile {
  /// Throws unless a new file can have that name. A file that the command reads is never replaced, whatever `replaces`
  /// says: it may be the only copy.
  ///
  /// - Parameter inputs: the files that the command reads; `-` means standard input.
  static func check(_ path: String, replaces: Bool, reading inputs: [String]) throws(Failure) {
    try check(path, replaces: replaces)
    guard let place = FilePlace(path), let input = inputs.first(where: { FilePlace(ofInput: $0) == place }) else {
      return
    }
    let name = input == "-" ? "standard input" : Printable.quoted(input)
    throw Failure(.usage, "\(name) and the output are the same file", "name another output")
  }
}

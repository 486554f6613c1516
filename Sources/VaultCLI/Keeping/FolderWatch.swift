internal import CLinux
internal import Glibc

/// Reports changes of files by watching their folders: a program that replaces a file puts another one in its place,
/// while the folder stays.
final class FolderWatch {
  private static let events =
    UInt32(
      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB
        | IN_ONLYDIR)

  /// A descriptor that is readable if there are events (inotify(7)).
  let descriptor: Int32
  private let paths: [String]
  /// The last parts of the paths.
  private let names: Set<String>
  /// More names to watch, in any of the folders.
  var others: Set<String> = []

  init(_ paths: [String]) throws(Failure) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard descriptor >= 0 else { throw Failure(.system, "cannot watch files: \(Output.describe(errno))") }
    self.paths = paths
    names = Set(
      paths.map { path in String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]) })
  }

  deinit { close(descriptor) }

  /// Starts to watch the folders that the paths name now. A folder that is already watched stays watched.
  func begin() throws(Failure) {
    for path in paths {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      guard unsafe inotify_add_watch(descriptor, folder, Self.events) >= 0 else {
        throw Failure(.io, "cannot watch \(folder): \(Output.describe(errno))", "check the folder")
      }
    }
  }

  /// Takes the events since the last call; returns true if one of the files may have changed.
  func take() -> Bool {
    var isAny = false
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return isAny }
      var at = 0
      while at + 16 <= count {
        let length = Int(Self.word(buffer, at + 12))
        let name = buffer[at + 16..<min(count, at + 16 + length)].prefix { $0 != 0 }
        // An event without a name is about a folder, or says that events were missed.
        if name.isEmpty || isWatched(String(decoding: name, as: UTF8.self)) { isAny = true }
        at += 16 + length
      }
    }
  }

  private func isWatched(_ name: String) -> Bool { names.contains(name) || others.contains(name) }

  /// Reads a number of struct inotify_event, in the machine's byte order.
  private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    // Four bytes lie there, and any bit pattern is an integer.
    unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: at, as: UInt32.self) }
  }
}

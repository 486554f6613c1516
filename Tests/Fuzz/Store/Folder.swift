import CLinux
import Glibc

/// A folder in memory for the files of a store. It lies inside the folder that `FUZZ_FOLDER` names, if that is set; the
/// caller then removes that folder.
struct Folder {
  let path: String

  /// Makes the folder.
  init() {
    let parent = unsafe getenv("FUZZ_FOLDER").map { unsafe String(cString: $0) } ?? "/dev/shm"
    path = "\(parent)/vault-fuzz-\(getpid())"
    require(unsafe mkdir(path, 0o700) == 0, "the fuzzer's folder cannot be made")
    for name in ["store", "saved"] {
      require(unsafe mkdir("\(path)/\(name)", 0o700) == 0, "its directories cannot be made")
    }
  }

  /// The directory of the store.
  var store: String { path + "/store" }
  /// The directory of a store that is saved or restored from this one.
  var saved: String { path + "/saved" }

  /// Removes the folder with all its files.
  func remove() {
    clear(store)
    clear(saved)
    for name in [store, saved, path] { unsafe rmdir(name) }
  }

  /// Removes the files of a directory.
  func clear(_ directory: String) {
    for name in Self.names { unsafe unlink("\(directory)/\(name)") }
  }

  private static let names =
    ["vault.db", "vault.db.new"].flatMap { [$0, $0 + "-wal", $0 + "-journal"] } + ["vault.lock"]

  /// The content of a file; empty if there is no such file.
  static func read(_ path: String) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    require(unsafe Glibc.read(file, &bytes, bytes.count) == bytes.count, "a file cannot be read")
    return bytes
  }

  /// Makes a file and, if `length` is given, sets its length; everything after the bytes is then a hole.
  static func write(_ bytes: [UInt8], to path: String, length: Int? = nil) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    require(file >= 0, "a file cannot be made")
    defer { close(file) }
    require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count, "a file cannot be written")
    // If the file system does not support the length, the file stays as it is.
    if let length { _ = ftruncate(file, length) }
  }
}

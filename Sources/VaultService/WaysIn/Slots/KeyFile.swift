internal import CLinux
internal import Glibc
package import VaultCore
package import VaultModel

/// A small file that contains a key, or a key sealed by the TPM.
package struct KeyFile: Sendable {
  package let path: String
  /// The name of the content in messages, such as `boot key`.
  package let name: String
  package var access = OwnFile.Kind.ours

  /// Reads the content, which must have one of the sizes in `count`, in bytes.
  package func read(_ count: ClosedRange<Int>) throws(KeystoreError) -> SecureBytes {
    let content: Content
    do throws(OwnFile.Problem) {
      content = try OwnFile.read(path, access) { file, size in Content(of: file, size, if: count) }
    } catch {
      switch error {
      case .missing: throw KeystoreError(.notFound, "there is no \(name) at \(path)")
      case .null, .notRegular: throw KeystoreError(.damaged, error.text(path))
      case .untrusted: throw KeystoreError(.refused, error.text(path))
      case .failed: throw KeystoreError(.unavailable, error.text(path))
      }
    }
    switch consume content {
    case .bytes(let bytes): return bytes
    case .otherSize:
      let size = count.count == 1 ? " of \(count.lowerBound) bytes" : ""
      throw KeystoreError(.damaged, "\(path) is not a \(name)\(size)")
    case .failed(let code): throw KeystoreError(.unavailable, "\(SystemError(call: "read \(path)", code: code))")
    }
  }

  enum Content: ~Copyable {
    case bytes(SecureBytes)
    /// The file has another size than it may have, or has become shorter since its size was read.
    case otherSize
    /// The value of `errno`.
    case failed(Int32)

    init(of file: Int32, _ size: Int, if count: ClosedRange<Int>) {
      guard count.contains(size) else {
        self = .otherSize
        return
      }
      var (got, code): (Int, Int32) = (0, 0)
      let bytes = SecureBytes(count: size) { bytes in
        while got < size {
          let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe Glibc.read(file, $0.baseAddress! + got, $0.count - got)
          }
          if count < 0 && errno == EINTR { continue }
          if count < 0 { code = errno }
          guard count > 0 else { break }
          got += count
        }
      }
      self = got == size ? .bytes(bytes) : code == 0 ? .otherSize : .failed(code)
    }
  }

  /// Writes `bytes` to ``path`` with mode 0600, completely and synced. An existing file is replaced.
  package func write(_ bytes: RawSpan) throws(SystemError) {
    try ReplacedFile.write(bytes, to: path, isSynced: true)
    try syncDirectory()
  }

  /// True if there is a file, of whatever kind.
  package var exists: Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// Gives the file that is there another name, its path with a number after it. If there is no file, nothing happens.
  package func setAside() throws(SystemError) {
    for number in 1...Self.mostAside {
      let other = "\(path).\(number)"
      // Not every file system can refuse to replace a file, so a second name is given first.
      if unsafe link(path, other) == 0 {
        try SystemError.check("unlink \(path)", unsafe unlink(path))
        return try syncDirectory()
      }
      switch errno {
      case ENOENT: return
      case EEXIST: continue
      default: throw SystemError(call: "link \(path)")
      }
    }
    throw SystemError(call: "link \(path)", code: EEXIST)
  }

  /// The most files that ``setAside()`` keeps beside the path.
  private static let mostAside = 99

  /// Removes the file, and the rest of an unfinished write. If there is no file, nothing happens. The blocks on the
  /// disk are not overwritten.
  package func remove() throws(SystemError) {
    unsafe unlink(ReplacedFile.temporary(path))
    guard unsafe unlink(path) == 0 else {
      let error = SystemError(call: "unlink \(path)")
      if error.code == ENOENT { return }
      throw error
    }
    try syncDirectory()
  }

  /// Waits until the change of the name is on the disk.
  private func syncDirectory() throws(SystemError) {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let directory = try SystemError.check(
      "open \(folder)", unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    defer { close(directory) }
    try SystemError.check("fsync \(folder)", fsync(directory))
  }
}

internal import CLinux
internal import Glibc
internal import VaultCore
internal import VaultKeystore

/// A small file that holds a key, or a key sealed by the TPM.
struct KeyFile: Sendable {
  /// Who may have a hand in the file.
  enum Access: Sendable {
    /// Ours alone: mode 0600.
    case own
    /// The service manager's, which gives it to us and to nobody else but root (systemd.exec(5), CREDENTIALS).
    case credential
  }

  let path: String
  /// What it holds, for messages: `boot key`.
  let name: String
  var access = Access.own

  /// The content, of one of the sizes in `count` in bytes.
  func read(_ count: ClosedRange<Int>) throws(KeystoreError) -> SecureBytes {
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      let error = SystemError(call: "open \(path)")
      switch error.code {
      case ENOENT: throw KeystoreError(.notFound, "there is no \(name) at \(path)")
      case ELOOP: throw KeystoreError(.refused, "\(path) is a symbolic link; it has to be a regular file")
      default: throw KeystoreError(.unavailable, "\(error)")
      }
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else {
      throw KeystoreError(.unavailable, "\(SystemError(call: "stat \(path)"))")
    }
    guard status.st_mode & S_IFMT == S_IFREG, count.contains(Int(status.st_size)) else {
      let size = count.count == 1 ? " of \(count.lowerBound) bytes" : ""
      throw KeystoreError(.damaged, "\(path) is not a \(name)\(size)")
    }
    try checkAccess(status)
    let size = Int(status.st_size)
    var got = 0
    let content = SecureBytes(count: size) { bytes in
      got = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
    }
    guard got == size else { throw KeystoreError(.unavailable, "\(SystemError(call: "read \(path)"))") }
    return content
  }

  /// Puts `bytes` at ``path`` with mode 0600, whole and synced, over one that may be there.
  func write(_ bytes: RawSpan) throws(SystemError) {
    let temporary = "\(path).new"
    unsafe unlink(temporary)
    let file = try SystemError.check(
      "open \(temporary)", unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    defer { close(file) }
    do throws(SystemError) {
      let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      guard written == bytes.byteCount else { throw SystemError(call: "write \(temporary)") }
      try SystemError.check("fsync \(temporary)", fsync(file))
      try SystemError.check("rename \(path)", unsafe rename(temporary, path))
    } catch {
      unsafe unlink(temporary)
      throw error
    }
    try syncDirectory()
  }

  /// Removes the file; without an effect when it is not there. What the disk keeps of it is not overwritten.
  func remove() throws(SystemError) {
    guard unsafe unlink(path) == 0 else {
      let error = SystemError(call: "unlink \(path)")
      if error.code == ENOENT { return }
      throw error
    }
    try syncDirectory()
  }

  private func checkAccess(_ status: stat) throws(KeystoreError) {
    switch access {
    case .own:
      guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
        throw KeystoreError(.refused, "\(path) is open to others; it has to be yours with mode 0600")
      }
    case .credential:
      // An access control list may give it to us, and shows as the group's bits.
      guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o027 == 0 else {
        throw KeystoreError(.refused, "\(path) is open to others; the service manager makes it so that it is not")
      }
    }
  }

  /// Waits until the name is on the disk.
  private func syncDirectory() throws(SystemError) {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let directory = try SystemError.check(
      "open \(folder)", unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    defer { close(directory) }
    try SystemError.check("fsync \(folder)", fsync(directory))
  }
}

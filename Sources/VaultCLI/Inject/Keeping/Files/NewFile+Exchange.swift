internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

// Ways to take a name without losing a file that another program has put there.
extension NewFile {
  /// The outcome of an exchange.
  enum Exchange {
    case done
    /// No file has the final name any more.
    case isGone
    /// The file system or the kernel cannot exchange names.
    case isImpossible
  }

  /// Takes the final name; returns false if another file has it.
  func takeFreeName() throws(Failure) -> Bool {
    guard unsafe vault_rename_new(folder, part, name) == 0 else {
      if errno == EEXIST { return false }
      throw Self.failure("name \(path)", errno)
    }
    isDone = true
    syncFolder()
    return true
  }

  /// Exchanges names with the file that has the final name. From then on, that file is at ``part``, and only
  /// ``drop()``, ``moveAside(to:)`` and ``undo(of:for:)`` remove it from there.
  func exchange() throws(Failure) -> Exchange {
    guard unsafe vault_exchange(folder, part, name) == 0 else {
      switch errno {
      case ENOENT: return .isGone
      case EINVAL, ENOSYS: return .isImpossible
      default: throw Self.failure("exchange \(path)", errno)
      }
    }
    isDone = true
    syncFolder()
    return .done
  }

  /// Removes the file at ``part``; returns false if a file stays there.
  @discardableResult func drop() -> Bool {
    isDone = true
    let isGone = unsafe unlinkat(folder, part, 0) == 0 || errno == ENOENT
    syncFolder()
    return isGone
  }

  /// Gives the displaced file a name of its own and makes it readable by its owner alone; returns false if that name is
  /// taken.
  func moveAside(to aside: String) throws(Failure) -> Bool {
    Self.leaveToOwner(part, in: folder)
    guard unsafe vault_rename_new(folder, part, aside) == 0 else {
      if errno == EEXIST { return false }
      throw Self.failure("name \(path.dropLast(name.count))\(aside)", errno)
    }
    syncFolder()
    return true
  }

  /// Restricts a regular file to its owner. A file that has more names keeps its mode. No other type of file is
  /// touched, nor a file that is put in its place meanwhile.
  static func leaveToOwner(_ name: String, in folder: Int32) {
    setMode(0o600, of: name, in: folder) { $0.st_mode & S_IFMT == S_IFREG && $0.st_nlink == 1 }
  }

  /// Sets the mode of a file, even if nobody may read it; returns false if that fails.
  ///
  /// - Parameter isRight: returns true for the file that is meant. No other file is touched.
  @discardableResult
  static func setMode(
    _ mode: mode_t, of name: String, in folder: Int32 = AT_FDCWD, _ isRight: (stat) -> Bool
  ) -> Bool {
    let descriptor = unsafe openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, isRight(status) else { return false }
    // fchmod(2) takes no such descriptor, but the link that names it leads to the same file.
    return unsafe chmod("/proc/self/fd/\(descriptor)", mode) == 0
  }

  /// Gives the final name back to the displaced file, or leaves it to a file that a program has put there since; then
  /// removes this file.
  ///
  /// - Parameters:
  ///   - content: the content that was written to this file.
  ///   - displaced: the displaced file; nil if it is not a regular file.
  /// - Returns: false if a program has written to this file meanwhile, or may still do so. This file then stays at
  ///   ``part``.
  func undo(of content: borrowing SecretBuffer, for displaced: PresentFile?) -> Bool {
    defer { syncFolder() }
    guard unsafe vault_exchange(folder, part, name) == 0 else {
      // No file has the final name any more.
      return unsafe vault_rename_new(folder, part, name) == 0
    }
    var mine = stat()
    guard unsafe fstat(descriptor, &mine) == 0 else { return false }
    end()
    if inode(of: part) == mine.st_ino {
      guard let own = PresentFile(part, in: folder), own.holds(content), !own.mayHaveWriter else { return false }
    } else {
      // The program itself replaced this file. Its new file is at ``part`` after the exchange, and gets the final name
      // back.
      guard unsafe vault_exchange(folder, part, name) == 0, let displaced, let again = PresentFile(part, in: folder),
        again.identity == displaced.identity, again.isSame(as: displaced), !again.mayHaveWriter
      else { return false }
    }
    return unsafe unlinkat(folder, part, 0) == 0
  }

  private func inode(of name: String) -> ino_t? {
    var status = stat()
    return unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : nil
  }

  /// Throws if the file system of a file's folder cannot exchange two names.
  ///
  /// - Parameter isTemplate: true for the template, which only `--adopt` writes.
  static func checkExchange(beside path: String, isTemplate: Bool = false) throws(Failure) {
    let one = try NewFile(path, replaces: true)
    let other = try NewFile(path, replaces: true)
    guard unsafe vault_exchange(one.folder, one.part, other.part) == 0 else {
      throw cannotExchange(beside: path, errno, isTemplate: isTemplate)
    }
    // A template has no mark, so its file system need not store the time of a stamp.
    if isTemplate || FileIdentity.stamp(one.descriptor) != nil { return }
    throw Failure(
      .configuration,
      "\(Printable.quoted(path)) cannot be kept: its file system does not store the time of a write",
      "name a file on another file system, or leave --watch out")
  }

  static func cannotExchange(beside path: String, _ code: Int32, isTemplate: Bool = false) -> Failure {
    Failure(
      .configuration,
      "\(Printable.quoted(path)) cannot be \(isTemplate ? "replaced without loss" : "kept"): "
        + "its file system cannot exchange two files (\(Output.describe(code)))",
      "name a file on another file system, or leave \(isTemplate ? "--adopt" : "--watch") out")
  }
}

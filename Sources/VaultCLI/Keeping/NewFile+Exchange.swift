internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

// Names that are taken without the loss of what another program has put there.
extension NewFile {
  /// What came of an exchange.
  enum Exchange {
    case done
    /// Nothing stands there any more.
    case isGone
    /// The file system, or the kernel, has no such thing.
    case isImpossible
  }

  /// Takes its name, unless a file has it: then false.
  func takeFreeName() throws(Failure) -> Bool {
    guard unsafe vault_rename_new(folder, part, name) == 0 else {
      if errno == EEXIST { return false }
      throw Self.failure("name \(name)", errno)
    }
    isDone = true
    syncFolder()
    return true
  }

  /// Exchanges names with the file that has its own: from here on that one is at ``part``, and nothing but ``drop()``,
  /// ``moveAside(to:)`` and ``undo()`` takes it away from there.
  func exchange() throws(Failure) -> Exchange {
    guard unsafe vault_exchange(folder, part, name) == 0 else {
      switch errno {
      case ENOENT: return .isGone
      case EINVAL, ENOSYS: return .isImpossible
      default: throw Self.failure("exchange \(name)", errno)
      }
    }
    isDone = true
    syncFolder()
    return .done
  }

  /// Removes what is at ``part``; false where something stays there.
  @discardableResult func drop() -> Bool {
    isDone = true
    let isGone = unsafe unlinkat(folder, part, 0) == 0 || errno == ENOENT
    syncFolder()
    return isGone
  }

  /// Gives what was displaced a name of its own, for its owner alone to read; false where that name is taken.
  func moveAside(to aside: String) throws(Failure) -> Bool {
    Self.leaveToOwner(part, in: folder)
    guard unsafe vault_rename_new(folder, part, aside) == 0 else {
      if errno == EEXIST { return false }
      throw Self.failure("name \(aside)", errno)
    }
    syncFolder()
    return true
  }

  /// Leaves a regular file to its owner alone. One that has other names keeps its mode there, and nothing that is no file,
  /// or is put in its place meanwhile, is touched.
  static func leaveToOwner(_ name: String, in folder: Int32) {
    let descriptor = unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      return
    }
    fchmod(descriptor, 0o600)
  }

  /// Gives the name back to what was displaced, or leaves it to what a program has put there since; removes this file.
  ///
  /// - Parameters:
  ///   - content: what was written to this file.
  ///   - displaced: what it has displaced; nil for what is no regular file.
  /// - Returns: false where a program has written to this file meanwhile, or may do so still: then it stays at ``part``.
  func undo(of content: borrowing SecretBuffer, for displaced: PresentFile?) -> Bool {
    defer { syncFolder() }
    guard unsafe vault_exchange(folder, part, name) == 0 else {
      // Nothing stands there any more.
      return unsafe vault_rename_new(folder, part, name) == 0
    }
    var mine = stat()
    guard unsafe fstat(descriptor, &mine) == 0 else { return false }
    end()
    if inode(of: part) == mine.st_ino {
      guard let own = PresentFile(part, in: folder), own.holds(content), !own.mayHaveWriter else { return false }
    } else {
      // The program itself has replaced it by what stands there now.
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

  /// Throws where the file system of a file's folder cannot exchange two names.
  ///
  /// - Parameter isTemplate: true for the template, which only `--adopt` writes.
  static func checkExchange(beside path: String, isTemplate: Bool = false) throws(Failure) {
    let one = try NewFile(path, replaces: true)
    let other = try NewFile(path, replaces: true)
    if unsafe vault_exchange(one.folder, one.part, other.part) == 0 { return }
    throw cannotExchange(beside: path, errno, isTemplate: isTemplate)
  }

  static func cannotExchange(beside path: String, _ code: Int32, isTemplate: Bool = false) -> Failure {
    Failure(
      .configuration,
      "\(Printable.quoted(path)) cannot be \(isTemplate ? "replaced without loss" : "kept"): "
        + "its file system cannot exchange two files (\(Output.describe(code)))",
      "name a file on another one, or leave \(isTemplate ? "--adopt" : "--watch") out")
  }
}

internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultWire

/// A note beside a kept file that tells the keeper's own last write from another program's, even after a restart.
///
/// The mark holds nothing derived from the content: nobody who lacks the file can confirm a guess of its content.
struct FileMark {
  private static let first = "vault-mark 1"
  /// The most bytes of a mark. It may hold paths, of at most 4 KiB each.
  private static let limit = 1 << 20

  /// True if there is a mark, whatever it says, and the keeper has written the file once.
  let exists: Bool
  /// The identities of the keeper's own files: the file that it was about to write, and the file that this write was to
  /// replace.
  var files: [FileIdentity]
  /// The temporary names of the files that the keeper made. After an exchange of names, such a name belongs to the
  /// displaced file.
  var parts: [Part]
  /// The paths beside the template at which an interrupted write of the template may have left a file.
  var others: [String]
  /// True if the command must still run for what was written.
  var isOwed: Bool
  /// True until the first write is complete.
  var isFirst: Bool

  private let path: String

  /// A temporary name in the folder.
  struct Part: Equatable {
    let name: String
    /// The inode number of the file with that name, if the keeper is to remove the file: its own file that is
    /// incomplete and has had no other name, or a file that could not be removed so far.
    var begun: UInt64?
  }

  /// Reads the mark of a file. A file that is not a mark counts as an empty one. A file that others may have written
  /// counts as no mark.
  init(of file: String) {
    path = Self.path(of: file)
    let text = Self.text(path)
    let lines = text?.split(separator: "\n") ?? []
    isFirst = lines.contains("first") || text == nil
    exists = text == nil ? Self.isTaken(path) : !isFirst
    guard lines.first?.elementsEqual(Self.first) == true else {
      (files, parts, others, isOwed) = ([], [], [], false)
      return
    }
    files = lines.compactMap { $0.hasPrefix("file ") ? FileIdentity($0.dropFirst(5)) : nil }
    let begun = lines.compactMap { $0.hasPrefix("begun ") ? $0.dropFirst(6).split(separator: " ") : nil }
    parts = lines.compactMap { line in
      guard line.hasPrefix("part "), let name = Part.name(line.dropFirst(5)) else { return nil }
      return Part(name: name, begun: begun.first { $0.count == 2 && $0[0] == name }.flatMap { UInt64($0[1]) })
    }
    others = lines.filter { $0.hasPrefix("other ") }.map { String($0.dropFirst(6)) }
    isOwed = lines.contains("owed")
  }

  /// Returns true if the mark's name is taken, except by a regular file that another user owns or others may write:
  /// such a file says nothing about the keeper.
  private static func isTaken(_ path: String) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG || isKeepers(status)
  }

  /// Returns true for a regular file of this user's that nobody else may write.
  private static func isKeepers(_ status: stat) -> Bool {
    status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
  }

  private static func text(_ path: String) -> String? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
    var descriptor = unsafe open(path, flags)
    // A keeper that cannot read its own mark would take its own file for another program's.
    if descriptor < 0, errno == EACCES,
      NewFile.setMode(0o600, of: path, { isKeepers($0) && $0.st_nlink == 1 })
    {
      descriptor = unsafe open(path, flags)
    }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, isKeepers(status),
      let read = try? FileInput.readAll(descriptor, limit: limit, name: path)
    else { return nil }
    // Bytes have no padding: all of them are initialized.
    return read.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
  }

  /// Returns true for a file that the keeper wrote.
  func holds(_ file: FileIdentity) -> Bool { files.contains(file) }

  /// Writes the mark in place of the existing one.
  func write() throws(Failure) {
    var text = Self.first + "\n"
    for file in files { text += "file \(file.text)\n" }
    for part in parts {
      text += "part \(part.name)\n"
      if let begun = part.begun { text += "begun \(part.name) \(begun)\n" }
    }
    for other in others where !other.contains("\n") { text += "other \(other)\n" }
    if isOwed { text += "owed\n" }
    if isFirst { text += "first\n" }
    do throws(Failure) {
      let file = try NewFile(path, replaces: true)
      try file.write(unsafe text.utf8.span.bytes)
      try file.finish()
    } catch {
      // A person does not know the mark by its name, so the message says what the file is.
      var failure = Failure(error.exit, "the keeper's own note could not be made: \(error.event)", error.advice)
      failure.isOfFullDisk = error.isOfFullDisk
      throw failure
    }
  }

  /// Returns the path of a small file of the keeper's beside the kept one.
  static func path(of file: String, ending: String = "vault-mark") -> String {
    let start = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
    return "\(file[..<start]).\(file[start...]).\(ending)"
  }
}

extension FileMark.Part {
  /// Returns the name if the keeper could have made it; nil otherwise.
  fileprivate static func name(_ text: Substring) -> String? {
    text.hasPrefix(NewFile.partPrefix) && !text.contains("/") ? String(text) : nil
  }

  /// Takes the name and the inode number of a file to which nothing was written yet.
  init(begun file: NewFile) {
    var status = stat()
    (name, begun) = (file.part, unsafe fstat(file.descriptor, &status) == 0 ? UInt64(status.st_ino) : nil)
  }
}

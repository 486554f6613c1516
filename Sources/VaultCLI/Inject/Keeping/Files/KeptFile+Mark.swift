internal import CLinux
internal import Glibc

// The mode of the kept file, and the mark that tells the keeper's own file from another program's.
extension KeptFile {
  /// Returns true for a file whose mode differs from the one that the keeper gave it.
  func hasOtherMode(_ present: PresentFile) -> Bool { present.status.st_mode & 0o7777 != output.mode }

  /// Gives the file its mode again; returns false if the keeper may not.
  func restoreMode(of present: PresentFile) -> Bool {
    NewFile.setMode(output.mode, of: output.path) { FileIdentity($0) == present.identity }
  }

  /// Returns true for the file that the keeper wrote last, by its mark.
  func isOwn(_ present: PresentFile) -> Bool { FileMark(of: output.path).holds(present.identity) }

  /// Records in the mark that the file is as the keeper would have written it, whoever wrote it.
  func confirm(_ present: PresentFile) {
    let mark = FileMark(of: output.path)
    if mark.holds(present.identity) { return }
    let descriptor = unsafe open(output.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_ino == present.status.st_ino,
      let stamp = FileIdentity.stamp(descriptor)
    else { return }
    // A write before the stamp shows in the content, and a later one in the modification time.
    guard let now = self.present(), now.identity == stamp, now.isSame(as: present) else { return }
    try? self.mark([stamp], isFirst: false)
  }

  /// Records whether the command must still run for what was written; false if the mark could not be written.
  mutating func owes(_ isOwed: Bool) -> Bool {
    let before = self.isOwed
    guard isOwed != before else { return true }
    self.isOwed = isOwed
    do {
      try mark(FileMark(of: output.path).files)
      return true
    } catch {
      self.isOwed = before
      return false
    }
  }

  /// Records a new template that is about to exchange its name with the present one.
  mutating func willExchange(template part: String) throws(Failure) {
    others = others.filter(Self.exists) + [part]
    try mark(FileMark(of: output.path).files)
  }

  /// Writes the mark.
  ///
  /// - Parameter isFirst: nil leaves the mark's value as it is.
  func mark(_ files: [FileIdentity], _ part: FileMark.Part? = nil, isFirst: Bool? = nil) throws(Failure) {
    // Somebody may have removed the lock file, and another keeper may have begun since.
    try lock.take()
    var mark = FileMark(of: output.path)
    mark.files = files
    if let isFirst { mark.isFirst = isFirst }
    mark.parts = (leftParts + ownParts).filter { Self.exists(path(of: $0.name)) } + (part.map { [$0] } ?? [])
    (mark.others, mark.isOwed) = (others.filter(Self.exists), isOwed)
    try mark.write()
  }
}

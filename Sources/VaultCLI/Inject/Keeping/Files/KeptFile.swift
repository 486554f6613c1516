internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The file that a keeper writes and that other programs may write as well. A file that is not the keeper's own is
/// never lost: it stays in its place or beside it.
struct KeptFile {
  /// The outcome of a write.
  enum Outcome {
    /// The file already was as it should be.
    case right
    /// The file was written. The associated values are the file that it displaced, which lies beside it now, and the
    /// status of the keeper's own file that it replaced.
    case written(Displaced?, over: stat?)
    /// The file was not written, because another program's text is there.
    case held(PresentFile)

    var isRight: Bool { if case .right = self { true } else { false } }

    var isHeld: Bool {
      switch self {
      case .right, .written: false
      case .held: true
      }
    }
  }

  /// A file that was displaced and lies beside the kept one.
  struct Displaced {
    let file: PresentFile
    /// True if the file arrived between the check and the write.
    let isSudden: Bool
    /// True if nothing more will be written to the file, as far as the keeper can tell.
    let isQuiet: Bool
  }

  /// The grounds on which the present file may be replaced.
  private enum Claim {
    /// The file is the keeper's own and is removed.
    case own
    /// The file is another program's and stays beside the output.
    case aside
  }

  private static let attempts = 8
  /// The milliseconds for which the keeper waits for a program that has the file open for writing.
  private static let patience = 1000

  let output: OutputFile
  /// True if a command runs after each write.
  private let runs: Bool
  let lock: KeeperLock
  /// The time since which a program has had the file open for writing, on the clock of ``Moment``.
  private var writing: Int?
  /// True if the command must still run for what was written.
  var isOwed = false
  /// The other programs' texts under temporary names: the keeper's files to which a program wrote while the keeper
  /// undid a write, and the texts that an earlier keeper left and that could not be moved beside the output.
  var leftParts: [FileMark.Part] = []
  /// The keeper's own files that could not be removed.
  var ownParts: [FileMark.Part] = []
  /// The paths that a write of the template may have left; see ``FileMark/others``.
  var others: [String] = []

  init(_ output: OutputFile, runs: Bool) {
    (self.output, self.runs, lock) = (output, runs, KeeperLock(of: output.path))
  }

  /// The path for a displaced file.
  var asidePath: String { output.path + ".displaced" }
  /// The name of a displaced file in the folder.
  private var asideName: String { String(output.path[nameStart...]) + ".displaced" }
  private var nameStart: String.Index {
    output.path.lastIndex(of: "/").map { output.path.index(after: $0) } ?? output.path.startIndex
  }

  /// True if a displaced file lies at ``asidePath``.
  var hasAside: Bool {
    Self.exists(asidePath)
  }

  /// The paths of other programs' texts that were left under temporary names because a write was undone.
  var leftovers: [String] { leftParts.map { path(of: $0.name) }.filter(Self.exists) }
  /// The paths of the keeper's own files that could not be removed so far.
  var ownLeftovers: [String] { ownParts.map { path(of: $0.name) }.filter(Self.exists) }
  /// The paths that an interrupted write of the template has left.
  var templateLeftovers: [String] { others.filter(Self.exists) }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  func path(of name: String) -> String { output.path[..<nameStart] + name }

  /// Returns the file at the output's path; nil if there is none.
  func present() -> PresentFile? { PresentFile(output.path) }

  /// True if the file is not empty now, or was not when the keeper last wrote it.
  var hasHeldText: Bool {
    present().map { $0.status.st_size > 0 } ?? false || FileMark(of: output.path).files.contains { $0.size > 0 }
  }

  /// Checks whether the file can be kept, and cleans up after a keeper that was killed.
  mutating func begin() throws(Failure) {
    try lock.take()
    try NewFile.checkExchange(beside: output.path)
    let mark = FileMark(of: output.path)
    (isOwed, others) = (mark.isOwed && runs, mark.others.filter(Self.exists))
    for part in mark.parts {
      let path = path(of: part.name)
      guard let left = PresentFile(path) else { continue }
      if Self.isOwn(left, part, mark) {
        if unsafe unlink(path) != 0 { ownParts.append(FileMark.Part(name: part.name, begun: left.identity.inode)) }
        continue
      }
      NewFile.leaveToOwner(path, in: AT_FDCWD)
      if unsafe vault_rename_new(AT_FDCWD, path, asidePath) == 0 { continue }
      switch errno {
      case ENOENT: continue
      case EEXIST:
        throw Failure(
          .exists,
          "the text of another program lies in \(Printable.quoted(path)), and earlier text in "
            + "\(Printable.quoted(asidePath))",
          "examine both, and remove one")
      default: leftParts.append(FileMark.Part(name: part.name))
      }
    }
  }

  /// Returns true for a file that the keeper wrote, to which nobody has written since and nobody is writing now.
  private static func isOwn(_ left: PresentFile, _ part: FileMark.Part, _ mark: FileMark) -> Bool {
    if left.mayHaveWriter { return false }
    return mark.holds(left.identity) || left.identity.inode == part.begun
  }

  // MARK: Writing

  /// Writes the file whole, unless it already is as it should be or another program's text is there.
  ///
  /// - Parameters:
  ///   - isFirst: true until the keeper knows what it wrote. Until then, a file without a mark is displaced.
  ///   - overwrites: true if another program's text is displaced.
  ///   - mindsMode: true if a file with another mode than the keeper's is not written.
  ///   - isKnown: returns true for the text that the keeper wrote last.
  /// - Returns: nil if the file has another mode, which the caller is to look at first.
  mutating func write(
    _ content: borrowing SecretBuffer, isFirst: Bool, overwrites: Bool, mindsMode: Bool,
    isKnown: (PresentFile) -> Bool
  ) throws(Failure) -> Outcome? {
    removeOwnParts()
    for _ in 0..<Self.attempts {
      try NewFile.check(output.path, replaces: true)
      let present = present()
      if let present {
        if isRight(present, content) {
          confirm(present)
          return .right
        }
        try waitForWriter(of: present)
        if mindsMode, hasOtherMode(present) { return nil }
      }
      var claim: Claim?
      if let present {
        claim = self.claim(on: present, content, isFirst: isFirst, overwrites: overwrites, isKnown: isKnown)
        if claim == nil { return .held(present) }
      }
      if let outcome = try place(content, over: present, claim) { return outcome }
    }
    throw Failure(.retry, "other programs keep writing \(Printable.text(output.path))")
  }

  private func isRight(_ present: PresentFile, _ content: borrowing SecretBuffer) -> Bool {
    present.status.st_mode & 0o7777 == output.mode && present.status.st_uid == geteuid() && present.holds(content)
  }

  private mutating func waitForWriter(of present: PresentFile) throws(Failure) {
    guard present.hasWriter else {
      writing = nil
      return
    }
    let since = writing ?? Moment.now()
    writing = since
    guard Moment.now() - since < Self.patience else { return }
    throw Failure(.retry, "another program is writing \(Printable.text(output.path))")
  }

  private func claim(
    on present: PresentFile, _ content: borrowing SecretBuffer, isFirst: Bool, overwrites: Bool,
    isKnown: (PresentFile) -> Bool
  ) -> Claim? {
    let mark = FileMark(of: output.path)
    // A program that still writes to the displaced file would lose its text, because there is no room beside the
    // output.
    if present.hasWriter, hasAside { return nil }
    if present.holds(content) || isKnown(present) { return .own }
    // Once the keeper knows what it wrote, any other text is another program's, whatever the file's times say.
    if isFirst || !present.isReadable, !present.hasWriter, mark.holds(present.identity) { return .own }
    guard overwrites || isFirst && !mark.exists else { return nil }
    return !hasAside || isAside(present) ? .aside : nil
  }

  /// Returns true if the file beside the output has the same content as this one.
  private func isAside(_ file: PresentFile) -> Bool {
    guard let aside = PresentFile(asidePath), aside.isReadable else { return false }
    return file.isSame(as: aside)
  }

  /// Puts a new file in the place of the present one.
  ///
  /// - Returns: nil if another file is there by now.
  private mutating func place(
    _ content: borrowing SecretBuffer, over present: PresentFile?, _ claim: Claim?
  ) throws(Failure) -> Outcome? {
    let file = try NewFile(output.path, replaces: true, mode: output.mode)
    let begun = FileMark.Part(begun: file)
    defer {
      // A file that is given up must not stay, because values may be in it.
      if !file.isDone { drop(file, begun) }
    }
    // The mark comes before any content: if the keeper is killed, its next start recognizes the file.
    let before = FileMark(of: output.path)
    try mark(before.files, begun, isFirst: !before.exists)
    try content.withBytes { bytes throws(Failure) in try file.write(bytes) }
    let own = claim == .own ? present.flatMap { $0.hasWriter ? nil : [$0.identity] } ?? [] : []
    // The mark comes before the new file gets its name, so that both files are known.
    let stamp = FileIdentity.stamp(file.descriptor)
    try file.sync()
    isOwed = runs
    let part = FileMark.Part(name: file.part)
    try mark((stamp.map { [$0] } ?? []) + own, part, isFirst: !before.exists)
    var outcome: Outcome?
    if let present {
      switch try file.exchange() {
      case .done:
        outcome = try settle(file, content, over: present, isMarked: before.holds(present.identity), claim)
      case .isGone: return nil
      case .isImpossible: throw NewFile.cannotExchange(beside: output.path, EINVAL)
      }
    } else if try file.takeFreeName() {
      outcome = .written(nil, over: nil)
    }
    // The first write is complete now, and the mark must say so: otherwise the next start would displace the file at
    // the output's path, as the first start does.
    if !before.exists, let outcome, !outcome.isHeld { try? mark(stamp.map { [$0] } ?? [], part, isFirst: false) }
    return outcome
  }

  /// Examines the displaced file, and decides what becomes of it.
  ///
  /// - Parameter isMarked: true if the mark knew the present file as the keeper's own.
  private mutating func settle(
    _ file: NewFile, _ content: borrowing SecretBuffer, over present: PresentFile, isMarked: Bool, _ claim: Claim?
  ) throws(Failure) -> Outcome {
    guard let (displaced, isQuiet) = Self.displaced(by: file) else {
      takeBack(file, content, nil)
      throw Failure(.exists, "\(Printable.quoted(output.path)) is no longer a regular file, so it stays")
    }
    // A program may have given the file a mode with which it cannot be read. Nobody has written to it as long as it has
    // the keeper's own time.
    let isUnread = isMarked && !displaced.isReadable && displaced.identity == present.identity
    let isSame = isUnread || displaced.isSame(as: present)
    let part = FileMark.Part(name: file.part, begun: displaced.identity.inode)
    if claim == .own, isSame, isQuiet {
      drop(file, part)
      return .written(nil, over: displaced.status)
    }
    let isMoved: Bool
    do throws(Failure) { isMoved = try file.moveAside(to: asideName) } catch {
      takeBack(file, content, displaced)
      throw error
    }
    if isMoved { return .written(Displaced(file: displaced, isSudden: !isSame, isQuiet: isQuiet), over: nil) }
    if isQuiet, isAside(displaced) {
      drop(file, part)
      return .written(nil, over: displaced.status)
    }
    takeBack(file, content, displaced)
    return .held(displaced)
  }

  /// Removes the file with the temporary name. A file that cannot be removed stays in the mark, and the removal is
  /// tried again.
  private mutating func drop(_ file: NewFile, _ part: FileMark.Part) {
    if !file.drop() { ownParts.append(part) }
  }

  private mutating func removeOwnParts() {
    let left = ownParts.filter { part in
      let path = path(of: part.name)
      guard let left = PresentFile(path), left.identity.inode == part.begun else { return false }
      if left.mayHaveWriter { return true }
      return unsafe unlink(path) != 0
    }
    ownParts = left
  }

  /// Gives the output's name back to the displaced file. If a program wrote to the keeper's file meanwhile, that file
  /// stays and is reported.
  private mutating func takeBack(_ file: NewFile, _ content: borrowing SecretBuffer, _ displaced: PresentFile?) {
    if !file.undo(of: content, for: displaced) { leftParts.append(FileMark.Part(name: file.part)) }
  }

  /// Returns the displaced file, and whether nobody will write to it any more. A program that is writing gets some time
  /// to finish. If the kernel cannot tell of writers, the keeper watches for a write for the same time.
  private static func displaced(by file: NewFile) -> (PresentFile, isQuiet: Bool)? {
    let end = Moment.now() + patience
    guard let first = PresentFile(file.part, in: file.folder) else { return nil }
    var displaced = first
    while displaced.mayHaveWriter, Moment.now() <= end {
      usleep(5000)
      guard let next = PresentFile(file.part, in: file.folder) else { return nil }
      displaced = next
    }
    return (displaced, !displaced.hasWriter && (!displaced.mayHaveWriter || displaced.isUnchanged(since: first)))
  }

  /// Removes the file beside the output, if it is still the given one.
  func removeAside(_ displaced: Displaced) {
    guard displaced.isQuiet, let aside = PresentFile(asidePath), aside.isSame(as: displaced.file) else { return }
    unsafe unlink(asidePath)
  }
}

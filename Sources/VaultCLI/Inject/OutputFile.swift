internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The file to which a template is rendered.
struct OutputFile {
  let path: String
  let mode: mode_t
  /// True if somebody asked for exactly this mode.
  var isModeChosen = false

  /// Writes the file whole, unless it already has the right content and mode; returns true if it was written.
  func write(_ content: borrowing SecretBuffer) throws(Failure) -> Bool {
    try NewFile.check(path, replaces: true)
    if isAlready(content) { return false }
    let file = try NewFile(path, replaces: true, mode: mode)
    try content.withBytes { bytes throws(Failure) in try file.write(bytes) }
    var old = stat()
    let wasThere = unsafe lstat(path, &old) == 0
    try file.finish()
    if wasThere { noteChange(from: old) }
    return true
  }

  /// True if the file is there and not empty.
  var hasContent: Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_size > 0
  }

  /// Tells a person that the owner has changed or, unless somebody asked for the mode, that the new file lacks
  /// permissions which the replaced file had.
  func noteChange(from old: stat) {
    var new = stat()
    guard unsafe lstat(path, &new) == 0 else { return }
    var changes: [String] = []
    var options: [String] = []
    if old.st_uid != new.st_uid || old.st_gid != new.st_gid {
      changes.append("belonged to \(old.st_uid):\(old.st_gid) and belongs to \(new.st_uid):\(new.st_gid) now")
      options.append("--owner")
    }
    let (before, after) = (old.st_mode & 0o7777, new.st_mode & 0o7777)
    if !isModeChosen, before & ~after != 0 {
      changes.append("had mode \(FileMode.text(before)) and has \(FileMode.text(after)) now")
      options.append("--mode")
    }
    guard !changes.isEmpty else { return }
    Output.note(
      "\(Printable.text(path)) \(changes.joined(separator: ", and ")); \(options.joined(separator: " and ")) "
        + (options.count == 1 ? "sets that" : "set these"), .none)
  }

  private func isAlready(_ content: borrowing SecretBuffer) -> Bool {
    let descriptor = open()
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard let status = Self.status(descriptor), status.st_mode & 0o7777 == mode, status.st_uid == geteuid(),
      Int(status.st_size) == content.count,
      let present = try? FileInput.readAll(descriptor, limit: Rendering.limit, name: path)
    else { return false }
    return present.isEqual(to: content)
  }

  private func open() -> Int32 { unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }

  private static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status
  }
}

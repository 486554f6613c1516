internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// `vault backup --check`: reads a backup to its end, as a restore would, and writes nothing.
struct BackupChecking {
  private let file: String
  private let secrets: SecretOptions
  private let recovery: Bool
  private let globals: Globals

  init(_ file: String, _ secrets: SecretOptions, recovery: Bool, _ globals: Globals) {
    (self.file, self.secrets, self.recovery, self.globals) = (file, secrets, recovery, globals)
  }

  func run() throws {
    let source = try BackupSource(file)
    let header = try source.header()
    guard let outline = BackupOutline(header) else { throw source.damaged("its header is damaged") }
    if secrets.passwordStdin || Keyboard.isAttended {
      try read(source, header)
      try report(outline, isWhole: true)
    } else {
      try measure(source, outline)
      try report(outline, isWhole: false)
      throw Failure(
        .retry, "nothing was found wrong, but without a password nobody can tell whether the rest is as it was written",
        "give --password-stdin, or run it on a terminal")
    }
  }

  /// Sends the backup to the daemon, which authenticates every byte of it.
  private func read(_ source: BackupSource, _ header: [UInt8]) throws {
    let answers = Answers(secrets, json: globals.json)
    _ = try source.send(header, Session(globals), answers, recovery: recovery, checks: true)
  }

  /// Compares the backup's length with the length in its header.
  private func measure(_ source: BackupSource, _ outline: BackupOutline) throws(Failure) {
    var buffer = SecretBuffer()
    buffer.append(count: 256 << 10) { _ in }
    var count = outline.headerCount
    while true {
      let read = try buffer.withMutableBytes { bytes throws(Failure) in try source.read(into: &bytes) }
      if read == 0 { break }
      count += read
    }
    if count < outline.count { throw source.damaged("it is cut short") }
    if count > outline.count { throw source.damaged("there is data after its end") }
  }

  private func report(_ outline: BackupOutline, isWhole: Bool) throws(Failure) {
    if globals.json {
      return try Output.json { object in
        object.add("file", file)
        object.add("created", outline.created)
        object.add("size", outline.count)
        object.add("checked", isWhole ? "all" : "length")
      }
    }
    let made = "made \(StatusCommand.moment(outline.created, now: Int64(time(nil)))), \(Counted.size(outline.count))"
    try Output.line(
      (isWhole ? "complete and as it was written" : "its header and its length are those of a backup") + "; \(made)")
  }
}

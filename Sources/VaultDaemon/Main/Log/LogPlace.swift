internal import CLinux
internal import CSystemd
internal import Glibc
internal import Logging
internal import VaultModel

/// The place that the daemon's log goes to.
enum LogPlace: Equatable {
  case standardError
  /// The system's journal, which is written to directly, because nobody reads the standard error of a daemon that a
  /// client started.
  case journal
  case file(LogFile)

  /// The place as named on the command line.
  enum Wanted: String, CaseIterable {
    case stderr, journal, file
    /// The journal if there is one, otherwise the file.
    case auto
  }

  /// - Parameters:
  ///   - file: the log file's path; nil when none is known.
  ///   - journal: the journal's socket (sd_journal_sendv(3)).
  init(_ wanted: Wanted, file: String?, journal: String = "/run/systemd/journal/socket") {
    let hasJournal = unsafe access(journal, W_OK) == 0
    switch wanted {
    case .stderr: self = .standardError
    case .journal: self = .journal
    case .auto where hasJournal: self = .journal
    case .file, .auto: self = file.flatMap { LogFile($0) }.map { .file($0) } ?? .standardError
    }
  }

  /// Makes a logger whose messages go to this place, with their time and level.
  func logger(_ level: Logger.Level) -> Logger {
    var log =
      switch self {
      case .standardError: StandardError.logger
      case .journal: Logger(label: "vaultd") { _ in LineHandler { LogPlace.tellJournal($0, $1) } }
      case .file(let file):
        Logger(label: "vaultd") { _ in
          LineHandler { file.append("\(Timestamp.format(Int64(time(nil)))) \($0.rawValue): \($1)\n") }
        }
      }
    log.logLevel = level
    return log
  }

  private static func tellJournal(_ level: Logger.Level, _ text: String) {
    let fields = ["MESSAGE=\(text)", "PRIORITY=\(priority(level))", "SYSLOG_IDENTIFIER=vaultd"].map { Array($0.utf8) }
    var all = fields.flatMap { $0 }
    // The parts lie within `all`, which is valid during the call; the call only reads them. If the journal is gone, the
    // line is lost.
    unsafe all.withUnsafeMutableBytes { bytes in
      var start = 0
      let parts = unsafe fields.map { field in
        defer { start += field.count }
        return unsafe iovec(iov_base: bytes.baseAddress! + start, iov_len: field.count)
      }
      _ = unsafe sd_journal_sendv(parts, Int32(parts.count))
    }
  }

  /// The priority in the terms of syslog(3).
  private static func priority(_ level: Logger.Level) -> Int32 {
    switch level {
    case .trace, .debug: LOG_DEBUG
    case .info: LOG_INFO
    case .notice: LOG_NOTICE
    case .warning: LOG_WARNING
    case .error: LOG_ERR
    case .critical: LOG_CRIT
    }
  }

  private struct LineHandler: LogHandler {
    let write: @Sendable (Logger.Level, String) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(_ write: @escaping @Sendable (Logger.Level, String) -> Void) { self.write = write }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { write(event.level, Printable.line(event.message.description)) }
  }
}

internal import Glibc
internal import Logging
internal import VaultModel

/// The daemon's messages outside of its sockets. All of them pass through ``Printable``, because a settings file, a
/// path, a service on a bus or a helper may have inserted terminal control characters, or text that looks like another
/// line.
enum StandardError {
  /// Writes one line, which begins with the name of the program that reports it.
  static func write(_ text: String, from program: String = "vaultd") {
    let line = Array("\(program): \(Printable.line(text))\n".utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
  }

  /// A logger that writes its messages as lines of standard error, with the time and the level.
  static var logger: Logger { Logger(label: "vaultd") { LineHandler(stream: .standardError(label: $0)) } }

  private struct LineHandler: LogHandler {
    var stream: StreamLogHandler

    var logLevel: Logger.Level {
      get { stream.logLevel }
      set { stream.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
      get { stream.metadata }
      set { stream.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { stream[metadataKey: key] }
      set { stream[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
      var event = event
      event.message = "\(Printable.line(event.message.description))"
      stream.log(event: event)
    }
  }
}

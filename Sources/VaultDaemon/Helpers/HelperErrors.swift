internal import CLinux
internal import Glibc

/// The words of a helper on its standard error: handed on to the daemon's own, line by line and in plain text.
/// Libraries repeat there what a service on a bus has told them.
final class HelperErrors {
  /// The number of bytes that one helper may say.
  private static let most = 64 << 10

  private let program: String
  /// Does not block; -1 once it is closed. Whoever watches it stops watching first.
  private(set) var descriptor: Int32
  private var line: [UInt8] = []
  private var count = 0

  /// Reads from `descriptor`, which it closes, what `program` says.
  init(_ descriptor: Int32, of program: String) {
    self.descriptor = descriptor
    self.program = program.split(separator: "/").last.map(String.init) ?? program
  }

  deinit { close() }

  /// Hands on what has come; false once there will be no more.
  func handOn() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4096)
    while count < Self.most {
      let got = unsafe read(descriptor, &chunk, min(chunk.count, Self.most - count))
      if got < 0 && errno == EINTR { continue }
      if got < 0 && errno == EAGAIN { return true }
      guard got > 0 else { break }
      count += got
      line += chunk[..<got]
      while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
        write(line[..<end])
        line.removeSubrange(...end)
      }
    }
    return false
  }

  /// Hands on the last line too; safe to call twice.
  func close() {
    guard descriptor >= 0 else { return }
    if !line.isEmpty { write(line[...]) }
    line = []
    Glibc.close(descriptor)
    descriptor = -1
  }

  private func write(_ line: ArraySlice<UInt8>) {
    StandardError.write(String(decoding: line, as: UTF8.self), from: program)
  }
}

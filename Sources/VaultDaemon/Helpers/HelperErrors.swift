internal import CLinux
internal import Glibc

/// A helper's standard error, copied to the daemon's own line by line. It is copied as plain text, because libraries
/// print there what a service on a bus has told them.
final class HelperErrors {
  private let most: Int
  private let program: String
  /// A descriptor that does not block; -1 once it is closed. Its watcher must stop watching before that.
  private(set) var descriptor: Int32
  private var line: [UInt8] = []
  private var count = 0

  /// Reads the errors of `program` from `descriptor`, and closes it at the end.
  ///
  /// - Parameter most: the most bytes that are copied.
  init(_ descriptor: Int32, of program: String, most: Int = 64 << 10) {
    self.descriptor = descriptor
    self.most = most
    self.program = program.split(separator: "/").last.map(String.init) ?? program
  }

  deinit { close() }

  /// Copies the bytes that have come; false once there will be no more.
  ///
  /// Bytes beyond the most are read and left out, so that the helper can write on. One call reads a bounded number of
  /// them, so that a helper that writes without end keeps nobody waiting.
  func handOn() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<16 {
      let got = unsafe read(descriptor, &chunk, chunk.count)
      if got < 0 && errno == EINTR { continue }
      if got < 0 && errno == EAGAIN { return true }
      guard got > 0 else { return false }
      copy(chunk[..<min(got, most - count)])
    }
    return true
  }

  private func copy(_ bytes: ArraySlice<UInt8>) {
    count += bytes.count
    line += bytes
    while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
      write(line[..<end])
      line.removeSubrange(...end)
    }
  }

  /// Copies the last line too, and closes the descriptor; safe to call twice.
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

internal import Glibc
internal import VaultBytes
internal import VaultWire

/// Standard input as lines, each in memory that wipes itself.
struct InputLines: ~Copyable {
  private let descriptor: Int32
  private let limit: Int
  private var pending = SecretBuffer(capacity: 65536)
  /// The offset in `pending` at which the next line begins.
  private var start = 0
  private var isAtEnd = false
  /// The number of the last returned line, counted from 1.
  private(set) var number = 0

  /// - Parameter limit: the longest allowed line in bytes.
  init(_ descriptor: Int32 = STDIN_FILENO, limit: Int) {
    self.descriptor = descriptor
    self.limit = limit
  }

  /// Returns the next line without its newline, or carriage return and newline; nil at the end.
  mutating func next() throws(Failure) -> SecretBuffer? {
    var searched = start
    while true {
      let found = pending.withBytes { bytes in InputLines.newline(in: bytes, from: searched) }
      if let found { return take(upTo: found, nextAt: found + 1) }
      if isAtEnd { return start == pending.count ? nil : take(upTo: pending.count, nextAt: pending.count) }
      pending.removeFirst(start)
      start = 0
      searched = pending.count
      if searched > limit {
        throw Failure(.invalid, "line \(number + 1) of standard input is longer than \(limit) bytes")
      }
      let count = FileInput.read(descriptor, into: &pending, atMost: 65536)
      if count < 0, errno != EINTR {
        throw Failure(.io, "cannot read standard input: \(Output.describe(errno))")
      }
      isAtEnd = count == 0
    }
  }

  private mutating func take(upTo end: Int, nextAt next: Int) -> SecretBuffer {
    number += 1
    defer { start = next }
    return pending.withBytes { bytes in
      let ends = end > start && Span<UInt8>(_bytes: bytes)[end - 1] == 0x0D
      return SecretBuffer(copying: bytes.extracting(start..<(ends ? end - 1 : end)))
    }
  }

  private static func newline(in bytes: RawSpan, from start: Int) -> Int? {
    let bytes = Span<UInt8>(_bytes: bytes)
    for index in start..<bytes.count where bytes[index] == 0x0A { return index }
    return nil
  }
}

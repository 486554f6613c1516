internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultWire

/// The connection to the daemon, read and written one frame at a time. Calls block. Everything that passes through is
/// wiped.
struct FrameSocket: ~Copyable {
  /// The error thrown when the other side closed the connection, or sent something that is not a frame.
  struct Ended: Error {}

  /// The most bytes in a frame: more than any answer needs.
  private static let limit = 16 << 10

  private let descriptor: Int32
  private var reader = FrameReader(limit: FrameSocket.limit)

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Waits for the next frame and returns it.
  mutating func receive() throws(Ended) -> Frame {
    while true {
      do throws(FrameError) {
        if let frame = try reader.next() { return frame }
        var chunk = SecretBuffer(capacity: 4096)
        let count = chunk.append(count: 4096) { bytes in
          // The kernel fills the buffer in place.
          unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw .notAnObject }
        chunk.truncate(to: count)
        try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes) }
      } catch {
        throw Ended()
      }
    }
  }

  borrowing func send(_ value: some WireValue) throws(Ended) {
    var writer = JSONWriter()
    value.write(to: &writer)
    let frame = writer.finish()
    var sent = 0
    while sent < frame.count {
      let count = frame.withBytes { bytes in
        unsafe bytes.extracting(sent...).withUnsafeBytes { bytes in
          unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw Ended() }
      sent += count
    }
  }
}

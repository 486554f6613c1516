internal import CLinux
internal import Glibc
public import VaultBytes
internal import VaultProcess
public import VaultWire

/// The conversation of a program with `vault`, which has started it: frames over descriptor 0, in both directions,
/// until `vault` hangs up.
public struct HelperConversation: ~Copyable {
  private var reader: FrameReader

  fileprivate init(frames limit: Int) { reader = FrameReader(limit: limit) }

  /// Returns the next frame; nil at the end.
  public mutating func next() -> Frame? {
    do throws(FrameError) {
      while true {
        if let frame = try reader.next() { return frame }
        var chunk = SecretBuffer()
        let count = chunk.append(count: 64 << 10) { bytes in
          unsafe bytes.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return nil }
        try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(..<count)) }
      }
    } catch {
      return nil
    }
  }

  /// Sends a frame; false if `vault` has hung up.
  public func send(_ frame: borrowing SecretBuffer) -> Bool {
    frame.withBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe write(STDIN_FILENO, $0.baseAddress, $0.count) }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.extracting(droppingFirst: count)
      }
      return true
    }
  }
}

extension HelperProgram {
  /// Runs a program for a conversation, and returns its exit code, which `body` returns. The program ends with the
  /// process that started it.
  ///
  /// - Parameter limit: the longest frame in bytes.
  public static func converse(
    _ name: String, frames limit: Int, _ body: (consuming HelperConversation) -> Int32
  ) -> Int32 {
    guard isStartedByItsUser() else {
      StandardStream.errors.complain(
        name, "it is started by vault, with a socket as its standard input; see \(name)(8)")
      return 64
    }
    harden()
    _ = vault_end_with_parent()
    return body(HelperConversation(frames: limit))
  }
}

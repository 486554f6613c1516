import Foundation
import Glibc
import VaultBytes
import VaultTesting
import VaultWire

/// A running `vault-import`, with which a test speaks in place of `vault`.
final class ImportStand {
  private let process = Process()
  private let ours: Int32
  /// The program's end of the socket, kept open to see what is unread; nil if the program alone has it.
  private let theirs: Int32?
  private var received: [UInt8] = []

  var pid: Int32 { process.processIdentifier }

  init(_ arguments: [String] = [], keepsTheirEnd: Bool = false) throws {
    let (ours, theirs) = try SocketPair.make()
    (self.ours, self.theirs) = (ours, keepsTheirEnd ? theirs : nil)
    process.executableURL = URL(filePath: Sandbox.path(of: "vault-import"))
    process.arguments = arguments
    process.environment = [:]
    process.standardInput = FileHandle(fileDescriptor: theirs)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    if !keepsTheirEnd { close(theirs) }
  }

  deinit {
    close(ours)
    if let theirs { close(theirs) }
    process.waitUntilExit()
  }

  // MARK: Calls

  /// Sends bytes, unless the program has ended.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      // The pointer is valid for this one call.
      let count = unsafe rest.withUnsafeBytes { rest in
        unsafe Glibc.send(ours, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Waits until the program has read everything that was sent.
  func waitUntilRead() {
    var held: Int32 = 1
    while held > 0, let theirs, unsafe ioctl(theirs, UInt(FIONREAD), &held) == 0 {}
  }

  /// Tells the program that no call follows.
  func hangUp() { shutdown(ours, Int32(SHUT_WR)) }

  /// Also takes no reply any more.
  func leave() { shutdown(ours, Int32(SHUT_RDWR)) }

  /// The bytes of a call.
  static func call(_ call: ImportCall) -> [UInt8] { bytes(call.frame()) }

  /// The bytes of a call with a value.
  static func call(_ call: ImportCall, _ value: [UInt8]) -> [UInt8] {
    bytes(call.frame(value: unsafe value.span.bytes))
  }

  /// The bytes of all calls that hand over one file, in parts of so many bytes.
  static func file(_ path: String, _ content: [UInt8], parts size: Int = ImportCall.longestPart) -> [UInt8] {
    var bytes = call(.file(path: path, count: content.count, modified: nil))
    for start in stride(from: 0, to: content.count, by: size) {
      bytes += call(.part, Array(content[start..<min(content.count, start + size)]))
    }
    return bytes
  }

  private static func bytes(_ frame: borrowing SecretBuffer) -> [UInt8] {
    frame.withBytes { frame in unsafe frame.withUnsafeBytes { unsafe [UInt8]($0) } }
  }

  // MARK: Replies

  /// The text of the next reply, without its NUL; nil at the end.
  func reply() -> String? {
    while true {
      if let end = received.firstIndex(of: 0) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      var chunk = [UInt8](repeating: 0, count: 64 << 10)
      let count = unsafe recv(ours, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      received += chunk.prefix(count)
    }
  }

  /// The texts of all replies that follow, up to the program's end.
  func replies() -> [String] {
    var texts: [String] = []
    while let text = reply() { texts.append(text) }
    return texts
  }

  /// Waits for the program's end, and returns its exit code; nil if a signal has ended it.
  func end() -> Int32? {
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }
}

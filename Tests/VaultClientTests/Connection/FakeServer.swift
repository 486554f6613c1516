import CLinux
import Foundation
import Glibc
import Synchronization
import VaultBytes
import VaultTesting
import VaultWire

@testable import VaultClient

struct FakeServerError: Error { let call: String }

/// A socket in a directory of its own, and threads that play a daemon on it.
final class FakeServer: Sendable {
  let directory: String
  private let listener: Int32
  private let serve: @Sendable (FakePeer, Int) throws -> Void
  private let record = Record()
  private let isListening = Mutex(false)

  /// The requests and connections that came in.
  final class Record: Sendable {
    private let state = Mutex<(requests: [String], connections: Int)>(([], 0))

    var requests: [String] { state.withLock { $0.requests } }
    var connections: Int { state.withLock { $0.connections } }

    func heard(_ request: String) { state.withLock { $0.requests.append(request) } }

    func connected() -> Int {
      state.withLock { state in
        state.connections += 1
        return state.connections - 1
      }
    }
  }

  /// The path of the socket.
  var path: String { directory + "/socket" }
  var location: SocketLocation { SocketLocation(path: path, trust: .runtimeDirectory) }
  var vault: Vault {
    var vault = Vault(at: location)
    vault.patience = .zero
    return vault
  }

  /// The requests received so far, as JSON, in order.
  var heard: [String] { record.requests }
  /// The number of accepted connections. A connection may not have been accepted yet, unless it was answered.
  var connections: Int { record.connections }

  /// Serves each connection with `serve` on a thread of its own; the number counts connections from 0. If `listening`
  /// is false, only the socket is made.
  init(
    listening: Bool = true, in parent: String = ScratchFolder.place,
    _ serve: @escaping @Sendable (FakePeer, Int) throws -> Void
  ) throws {
    self.serve = serve
    directory = try ScratchFolder.make(in: parent)
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    listener = socket(AF_UNIX, type, 0)
    let parent = unsafe open(directory, O_PATH | O_CLOEXEC)
    defer { Glibc.close(parent) }
    // A path through the open directory may be of any length.
    guard unsafe vault_bind_unix(listener, "/proc/self/fd/\(parent)/socket") == 0 else {
      throw FakeServerError(call: "bind")
    }
    if listening { listen() }
  }

  /// Ends the server. A test calls this itself, so that the server lives until then.
  func close() {
    // The accepting thread then closes the socket itself, so that no other file takes the descriptor's number
    // meanwhile.
    if isListening.withLock({ $0 }) { shutdown(listener, Int32(SHUT_RDWR)) } else { Glibc.close(listener) }
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Makes a queue in which one client may wait, and accepts none until ``listen()``.
  func queue() { Glibc.listen(listener, 0) }

  /// Begins to accept connections.
  func listen() {
    isListening.withLock { $0 = true }
    Glibc.listen(listener, 8)
    Thread.detachNewThread { [listener, serve, record] in
      while true {
        let descriptor = accept(listener, nil, nil)
        if descriptor < 0 { break }
        let number = record.connected()
        Thread.detachNewThread { try? serve(FakePeer(descriptor, record), number) }
      }
      Glibc.close(listener)
    }
  }

}

/// The daemon's end of one connection, closed when this object is gone.
final class FakePeer {
  private let descriptor: Int32
  private let record: FakeServer.Record
  private var reader = FrameReader()

  /// True if the client has hung up and nothing more can be sent.
  private(set) var isGone = false

  init(_ descriptor: Int32, _ record: FakeServer.Record) {
    self.descriptor = descriptor
    self.record = record
  }

  deinit { close(descriptor) }

  /// Returns the next request as JSON; nil if the client has hung up.
  func read() throws -> String? {
    while true {
      if let frame = try reader.next() {
        let text = Self.text(frame)
        record.heard(text)
        return text
      }
      var bytes = [UInt8](repeating: 0, count: 65536)
      let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
      if count <= 0 { return nil }
      try reader.append(unsafe bytes.span.bytes.extracting(0..<count))
    }
  }

  /// Reads a part of the client's bytes.
  func readPart() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    _ = unsafe recv(descriptor, &bytes, bytes.count, 0)
  }

  /// Hangs up now, as an ending daemon does.
  func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Waits until the client hangs up.
  func waitForEnd() throws { while try read() != nil {} }

  /// Sends bytes as they are.
  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes[sent...].withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        isGone = true
        return
      }
      sent += count
    }
  }

  /// Sends a message and its NUL.
  func send(_ json: String) { send(Array(json.utf8) + [0]) }

  func reply(_ parameters: String = "{}", continues: Bool = false) {
    send("{\"parameters\":\(parameters)\(continues ? ",\"continues\":true" : "")}")
  }

  private static func text(_ frame: borrowing Frame) -> String {
    let call = try? Call(frame)
    let method = call.flatMap { frame.string($0.method) } ?? "?"
    let parameters = call?.parameters.map { Self.text(frame, $0) } ?? ""
    return "\(method.split(separator: ".").last ?? "?")\(call?.more == true ? "+" : "")\(parameters)"
  }

  private static func text(_ frame: borrowing Frame, _ node: Frame.Node) -> String {
    switch frame.kind(node) {
    case .object:
      var parts: [String] = []
      for (key, value) in frame.members(of: node) { parts.append("\(key):\(text(frame, value))") }
      return "{\(parts.joined(separator: ","))}"
    case .array:
      var parts: [String] = []
      for element in frame.elements(of: node) { parts.append(text(frame, element)) }
      return "[\(parts.joined(separator: ","))]"
    case .string: return frame.string(node) ?? ""
    case .number: return frame.integer(node).map { "\($0)" } ?? "?"
    case .bool: return frame.bool(node) == true ? "true" : "false"
    case .null: return "null"
    }
  }
}

extension SecretBuffer {
  var array: [UInt8] {
    borrowing get {
      withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return bytes.indices.map { bytes[$0] }
      }
    }
  }

  init(_ text: String) {
    self.init()
    append(utf8: text)
  }
}

/// Changes the mode of a file.
func setMode(_ mode: mode_t, of path: String) { unsafe chmod(path, mode) }

/// Returns the ``ClientError`` that `body` throws; nil if it throws none.
func clientError(_ body: () throws -> Void) -> ClientError? {
  do {
    try body()
    return nil
  } catch { return error as? ClientError }
}

/// Returns true for an error about the server's identity.
func isUnsafe(_ error: ClientError?) -> Bool { if case .unsafeSocket = error { true } else { false } }

func isViolation(_ error: ClientError?) -> Bool { if case .protocolViolation = error { true } else { false } }

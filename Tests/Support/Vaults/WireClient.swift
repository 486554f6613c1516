import CLinux
import Foundation
import Glibc

/// A client independent of the program's own code: a socket, and JSON as Foundation reads it.
public final class WireClient {
  /// A JSON object of a message.
  public typealias Message = [String: Any]

  private let descriptor: Int32
  private var received: [UInt8] = []
  /// The process that connected, which lives as long as its connections do.
  private let process: OtherProcess?

  public init(_ path: String) throws {
    process = nil
    descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let connected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else {
      // All properties are set, so `deinit` closes the socket.
      throw SandboxError("connect \(path): \(errno)")
    }
    limit(seconds: 60)
  }

  /// Takes ownership of the connected socket of another process.
  init(descriptor: Int32, of process: OtherProcess) {
    (self.descriptor, self.process) = (descriptor, process)
    limit(seconds: 60)
  }

  /// Sets the time that a call of this client waits for bytes, because a test must not wait forever.
  public func limit(seconds: Int) {
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Glibc.close(descriptor) }

  /// Sends bytes unchanged, and returns the number that were sent.
  @discardableResult
  public func send(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { pointer in
        unsafe Glibc.send(
          descriptor, pointer.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { break }
      sent += count
    }
    return sent
  }

  /// Sends as many bytes as the other side accepts now, and returns their number.
  @discardableResult
  public func sendWithoutWaiting(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { pointer in
        unsafe Glibc.send(
          descriptor, pointer.baseAddress?.advanced(by: sent), bytes.count - sent,
          Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      guard count > 0 else { break }
      sent += count
    }
    return sent
  }

  /// Sends one frame.
  @discardableResult
  public func send(frame: String) -> Int { send(Array(frame.utf8) + [0]) }

  /// Tells the other side that nothing more will be sent.
  public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Receives at most `limit` bytes, and returns their number: 0 at the end of the connection, and the negative error
  /// number if there is an error.
  private func fill(_ flags: Int32 = 0, atMost limit: Int = 1 << 18) -> Int {
    unsafe withUnsafeTemporaryAllocation(byteCount: min(limit, 1 << 18), alignment: 1) { buffer in
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, flags)
      guard count >= 0 else { return -Int(errno) }
      unsafe received.append(contentsOf: buffer.prefix(count))
      return count
    }
  }

  private func isEnd(_ count: Int) throws -> Bool {
    if count == 0 || count == -Int(ECONNRESET) { return true }
    guard count > 0 else { throw SandboxError("no answer: \(-count)") }
    return false
  }

  /// The bytes of the next frame; nil if the other side closed the connection.
  public func receiveBytes() throws -> [UInt8]? {
    var searched = 0
    while true {
      // Only the bytes received since the last search are searched, because a long reply arrives in many pieces.
      if let end = received[searched...].firstIndex(of: 0) {
        defer { received.removeSubrange(...end) }
        return Array(received[..<end])
      }
      searched = received.count
      if try isEnd(fill()) { return nil }
    }
  }

  /// The next frame; nil if the other side closed the connection.
  public func receive() throws -> Message? {
    guard let bytes = try receiveBytes() else { return nil }
    guard let message = try JSONSerialization.jsonObject(with: Data(bytes)) as? Message else {
      throw SandboxError("not an object: \(String(decoding: bytes, as: UTF8.self))")
    }
    return message
  }

  /// The next `count` bytes, unchanged; nil if the other side closed the connection first.
  public func receive(count: Int) throws -> [UInt8]? {
    while received.count < count { if try isEnd(fill(atMost: count - received.count)) { return nil } }
    defer { received.removeSubrange(..<count) }
    return Array(received[..<count])
  }

  /// All bytes up to the end of the connection, or until none come for as long as the limit.
  public func receiveRest() -> [UInt8] {
    while fill() > 0 {}
    defer { received = [] }
    return received
  }

  /// The bytes that have arrived; nil if there are none because the connection has ended.
  public func receiveWithoutWaiting() -> [UInt8]? {
    var count = 0
    repeat { count = fill(Int32(MSG_DONTWAIT), atMost: 1 << 16) } while count > 0
    if received.isEmpty && count != -Int(EAGAIN) { return nil }
    defer { received = [] }
    return received
  }

  /// Waits for 0.1 s at most until one of the clients has bytes or has ended, and returns the indices of those clients.
  public static func ready(of clients: [WireClient]) -> [Int] {
    var polled = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard unsafe poll(&polled, nfds_t(polled.count), 100) > 0 else { return [] }
    return polled.indices.filter { polled[$0].revents != 0 }
  }

  /// Sends a call of `io.vaultd.Vault`, and returns its first reply.
  public func call(_ method: String, _ parameters: Message = [:], more: Bool = false, upgrade: Bool = false) throws
    -> Reply
  {
    try begin(method, parameters, more: more, upgrade: upgrade)
    return try reply()
  }

  /// Sends a call of `io.vaultd.Vault`, whose replies ``reply()`` returns.
  public func begin(_ method: String, _ parameters: Message = [:], more: Bool = false, upgrade: Bool = false) throws {
    var message: Message = [
      "method": method.contains(".") ? method : "io.vaultd.Vault." + method, "parameters": parameters,
    ]
    if more { message["more"] = true }
    if upgrade { message["upgrade"] = true }
    send([UInt8](try JSONSerialization.data(withJSONObject: message)) + [0])
  }

  /// The next reply.
  public func reply() throws -> Reply {
    guard let message = try receive() else { throw SandboxError("the daemon closed the connection") }
    return Reply(message)
  }

  /// The text or the reason in an object, with the advice that comes with it.
  public static func sentence(_ object: Message) -> String? {
    let text = object["text"] as? String ?? object["reason"] as? String
    return text.map { [$0, object["advice"] as? String].compactMap { $0 }.joined(separator: "; ") }
  }

  /// A reply, parsed.
  public struct Reply: CustomStringConvertible {
    public let parameters: Message
    /// The error's name without the interface.
    public let error: String?
    public let continues: Bool

    init(_ message: Message) {
      parameters = message["parameters"] as? Message ?? [:]
      error = (message["error"] as? String).map { $0.replacingOccurrences(of: "io.vaultd.Vault.", with: "") }
      continues = message["continues"] as? Bool ?? false
    }

    public func string(_ key: String) -> String? { parameters[key] as? String }
    public func integer(_ key: String) -> Int? { parameters[key] as? Int }
    /// The last part of the error's name, with the reason; or else the value, or nothing.
    public var outcome: String {
      guard let error else { return string("value") ?? "" }
      let name = String(error.split(separator: ".").last ?? "")
      return [name, string("reason")].compactMap { $0 }.joined(separator: " ")
    }
    public var prompt: Message? { parameters["prompt"] as? Message }
    /// The reason of an error, with the advice that comes with it.
    public var sentence: String? { WireClient.sentence(parameters) }
    public var description: String { "\(error ?? "ok") \(parameters)" }
  }
}

extension Sandbox {
  /// The daemon's warnings about things that it cannot do or watch.
  public func warnings() throws -> [String] {
    let warnings = try client().call("Status").parameters["warnings"] as? [WireClient.Message] ?? []
    return warnings.compactMap(WireClient.sentence)
  }

  /// A new connection to the sandbox's daemon.
  public func client() throws -> WireClient { try WireClient(socket) }

  /// Holds a conversation, and returns its last reply. Each prompt is passed to `answer`, which returns the text to
  /// send; nil closes the connection instead.
  @discardableResult
  public func converse(
    _ method: String, _ parameters: WireClient.Message = [:], answer: (WireClient.Message) -> String?
  ) throws -> WireClient.Reply? {
    let asking = try client()
    var reply = try asking.call(method, parameters, more: true)
    while reply.error == nil, let prompt = reply.prompt, let conversation = reply.string("conversation") {
      guard let text = answer(prompt) else { return nil }
      // A prompt that only informs needs no answer.
      if let style = prompt["style"] as? String, ["info", "error"].contains(style) {
        reply = try asking.reply()
        continue
      }
      let number = prompt["number"] as? Int ?? 0
      let answered = try client().call("Respond", ["conversation": conversation, "answer": text, "number": number])
      if let error = answered.error { throw SandboxError("Respond: \(error)") }
      reply = try asking.reply()
    }
    return reply
  }

  /// Makes a vault whose password is `password`, with the smallest allowed Argon2id parameters, and starts its daemon
  /// again, so that it is cold.
  public func makeVault(
    password: String, config: String? = nil, recovery: Bool = false, parameters: WireClient.Message = [:],
    environment: [String: String?] = [:]
  ) throws -> String? {
    let given: WireClient.Message = ["recovery": recovery]
    let code = try makeStore(
      password: password, config: config, parameters: given.merging(parameters) { $1 }, environment: environment)
    try startDaemon(config: config, environment: environment)
    return code
  }

  /// Makes a vault as ``makeVault(password:config:recovery:parameters:environment:)`` does, and stops its daemon.
  func makeStore(
    password: String, config: String? = nil, parameters: WireClient.Message = [:],
    environment: [String: String?] = [:]
  ) throws -> String? {
    try startDaemon(config: config, environment: environment)
    var code: String?
    let given: WireClient.Message = ["kdf_memory": 19 << 20, "kdf_passes": 2]
    let reply = try converse("Init", given.merging(parameters) { $1 }) { prompt in
      if let shown = prompt["code"] as? String {
        code = shown
        return shown
      }
      return password
    }
    if let error = reply?.error { throw SandboxError("Init: \(error)") }
    try stopDaemon()
    return code
  }

  /// Unlocks the vault, and returns the last reply.
  @discardableResult
  public func unlock(_ secret: String, _ parameters: WireClient.Message = [:]) throws -> WireClient.Reply? {
    try converse("Unlock", parameters) { _ in secret }
  }

  /// Lets as much time pass on the sandbox's clock as the daemon requires before the method can be tried again.
  public func waitOut(_ method: String) throws {
    // Closing the connection after the prompt does not count as an attempt.
    while let reply = try converse("Unlock", ["method": method, "for": 3600], answer: { _ in nil }),
      try waitOut(reply)
    {}
  }

  /// Lets as much time pass on the sandbox's clock as a reply tells to wait; false if the reply names no time.
  public func waitOut(_ reply: WireClient.Reply) throws -> Bool {
    guard let milliseconds = reply.integer("retry_after_ms") else { return false }
    guard let clock else { throw SandboxError("a test waits for the machine's clock") }
    try clock.pass(seconds: Int64(milliseconds / 1000 + 1))
    return true
  }
}

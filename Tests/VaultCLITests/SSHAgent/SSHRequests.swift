import VaultTesting

/// The bodies of requests of the ssh-agent protocol (RFC 9987), also such as no program of OpenSSH sends.
extension [UInt8] {
  static func number(_ value: Int) -> Self { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
  static func string(_ bytes: Self) -> Self { number(bytes.count) + bytes }
  static func string(_ text: String) -> Self { string(Array(text.utf8)) }
  static func zeros(_ count: Int) -> Self { Self(repeating: 0, count: count) }

  static let list: Self = [0x0b]
  static let removeAll: Self = [0x13]
  static let unknown: Self = [0x63]
  static func remove(_ blob: Self) -> Self { [0x12] + string(blob) }
  static func lock(_ passphrase: String) -> Self { [0x16] + string(passphrase) }
  static func unlock(_ passphrase: String) -> Self { [0x17] + string(passphrase) }
  static func `extension`(_ name: String) -> Self { [0x1b] + string(name) }

  static func sign(_ blob: Self, _ data: Self, flags: Int = 0) -> Self {
    [0x0d] + string(blob) + string(data) + number(flags)
  }

  /// The data that a client signs to log in: RFC 4252, section 7, and `publickey-hostbound-v00@openssh.com` if it names
  /// the host's key.
  static func login(
    _ blob: Self, _ session: Self, user: String = "ana", algorithm: String = "ssh-ed25519", host: Self? = nil
  ) -> Self {
    let method = host == nil ? "publickey" : "publickey-hostbound-v00@openssh.com"
    let start = string(session) + [0x32] + string(user) + string("ssh-connection") + string(method) + [1]
    return start + string(algorithm) + string(blob) + (host.map { string($0) } ?? [])
  }

  /// The data that `ssh-keygen -Y sign` has signed.
  static func message(_ namespace: String) -> Self {
    Array("SSHSIG".utf8) + string(namespace) + string("") + string("sha512") + string(zeros(64))
  }

  static func bind(_ blob: Self, _ session: Self, isForwarding: Bool, signature: Self) -> Self {
    let parts = string(blob) + string(session) + string(signature)
    return `extension`("session-bind@openssh.com") + parts + [isForwarding ? 1 : 0]
  }

  static func bind(_ host: SSHTestKey, _ session: Self, isForwarding: Bool) -> Self {
    bind(host.blob, session, isForwarding: isForwarding, signature: host.signature(of: session))
  }
}

extension WireClient {
  /// Sends a request to an ssh-agent.
  func ask(_ body: [UInt8]) { send(.string(body)) }

  /// The body of an ssh-agent's next answer; nil if it closed the connection.
  func answer() throws -> [UInt8]? {
    guard let head = try receive(count: 4) else { return nil }
    return try receive(count: head.reduce(0) { $0 << 8 | Int($1) })
  }

  /// The type of an ssh-agent's next answer; nil if it closed the connection.
  func code() throws -> UInt8? { try answer()?.first }

  /// Sends a request to an ssh-agent, and returns the type of the answer.
  func code(_ body: [UInt8]) throws -> UInt8? {
    ask(body)
    return try code()
  }

  /// The public keys that an ssh-agent lists, with their names.
  func keys() throws -> [(blob: [UInt8], name: String)] {
    ask(.list)
    guard let answer = try answer(), answer.first == 12 else { throw SandboxError("no list of keys") }
    var rest = answer.dropFirst()
    func number() -> Int {
      defer { rest = rest.dropFirst(4) }
      return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
    func string() -> [UInt8] {
      let count = number()
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    return (0..<number()).map { _ in (string(), String(decoding: string(), as: UTF8.self)) }
  }
}

extension Sandbox {
  /// A new connection to the ssh-agent.
  func join() throws -> WireClient { try WireClient(sshSocket) }
}

import CLinux

/// The few calls of io.vaultd.Vault that a login needs; vault-protocol(7) describes all of them.
///
/// The daemon writes its JSON without spaces, and a quotation mark inside a text has a backslash before it, so a member
/// is found by its bytes.
struct Exchange: ~Copyable {
  private let deadline: Deadline
  /// The frame that was received, and the frame to be sent.
  private var reply: WipedBytes
  private var frame: WipedBytes

  /// The most replies to read: more than any errand needs.
  private static let mostReplies = 16

  /// Makes an exchange; nil when there is no memory.
  init?(until deadline: Deadline) {
    guard let reply = WipedBytes(), let frame = WipedBytes() else { return nil }
    self.reply = reply
    self.frame = frame
    self.deadline = deadline
  }

  /// Does the errand, and starts a daemon when there is none.
  mutating func run(_ errand: borrowing Errand, for user: borrowing User) -> Outcome {
    switch reach(user) {
    case .connected: break
    case .nobody: return .nothing
    case .foreign: return .foreign
    case .failed: return .broken
    }
    if errand.kind == .markStale { return markStale(user, .done) }
    if errand.kind != .unlock {
      let outcome = converse(Self.change, errand.old, errand.password, user)
      // The login password has already changed, and the slot did not follow.
      if outcome != .done && outcome != .nothing { return markStale(user, outcome) }
      if errand.kind == .rewrap { return outcome }
    }
    let outcome = converse(Self.unlock, errand.password, errand.password, user)
    // PAM accepted this password, so the slot is wrong. It is marked, so that it is not tried again until somebody
    // repairs it.
    return outcome == .refused ? markStale(user, outcome) : outcome
  }

  private static let unlock: StaticString =
    #"{"method":"io.vaultd.Vault.Unlock","parameters":{"method":"login"},"more":true}"#
  private static let change: StaticString =
    #"{"method":"io.vaultd.Vault.ChangePassword","parameters":{"method":"login"},"more":true}"#
  private static let mark: StaticString = #"{"method":"io.vaultd.Vault.MarkStale","parameters":{}}"#

  /// Connects to the daemon. Starts a daemon when none listens but the user has a vault.
  private func reach(_ user: borrowing User) -> Channel.Found {
    let first = unsafe Channel.connect(in: user.directory, until: deadline)
    switch consume first {
    case .connected(let channel): return .connected(channel)
    case .foreign: return .foreign
    case .failed: return .failed
    case .nobody: break
    }
    guard unsafe access(user.store, F_OK) == 0 else { return .nobody }
    user.startDaemon(until: deadline)
    // Connects even when the new daemon said that another daemon holds the store: that other daemon may listen by now.
    return unsafe Channel.connect(in: user.directory, until: deadline)
  }

  /// Holds one conversation: the daemon's questions come on one connection, and each answer goes over a new one.
  private mutating func converse(
    _ call: StaticString, _ secret: borrowing WipedBytes, _ newSecret: borrowing WipedBytes, _ user: borrowing User
  ) -> Outcome {
    guard case .connected(let asking) = unsafe Channel.connect(in: user.directory, until: deadline) else {
      return .broken
    }
    guard send(call, on: asking) else { return .broken }
    for _ in 0..<Self.mostReplies {
      guard asking.receive(&reply) else { return .broken }
      if reply.find(#""error":""#) != nil { return fault }
      guard reply.find(#""prompt":{"#) != nil else { return reply.find(#"{"parameters":{"#) == 0 ? .done : .broken }
      let isAnswered: Bool
      if reply.find(#""style":"secret""#) != nil {
        isAnswered = answer(secret, user)
      } else if reply.find(#""style":"new-secret""#) != nil {
        isAnswered = answer(newSecret, user)
      } else {
        isAnswered = reply.find(#""style":"info""#) != nil || reply.find(#""style":"error""#) != nil
      }
      guard isAnswered else { return .broken }
    }
    return .broken
  }

  /// Answers the prompt in `reply`.
  private mutating func answer(_ secret: borrowing WipedBytes, _ user: borrowing User) -> Bool {
    let name: StaticString = #""conversation":""#
    guard let found = reply.find(name),
      case .connected(let channel) = unsafe Channel.connect(in: user.directory, until: deadline)
    else { return false }
    frame.clear()
    frame.append(#"{"method":"io.vaultd.Vault.Respond","parameters":{"conversation":""#)
    var index = found + name.utf8CodeUnitCount
    while index < reply.count, reply[index] != UInt8(ascii: "\"") {
      // A conversation's id is hexadecimal; any other byte could end the JSON text that the id is copied into.
      guard (48...57).contains(reply[index]) || (97...102).contains(reply[index]) else { return false }
      frame.append(reply[index])
      index += 1
    }
    frame.append(#"","#)
    appendNumber()
    frame.append(#""data":""#)
    frame.append(base64: secret)
    frame.append(#""}}"#)
    frame.append(UInt8(0))
    let isSent = channel.send(frame)
    frame.clear()
    // The daemon also sends the result on the connection of the questions, so this reply is not examined.
    return isSent && channel.receive(&reply)
  }

  /// Appends the number of the prompt in `reply` to the frame. Daemons before 2026-12 give prompts no number.
  private mutating func appendNumber() {
    let name: StaticString = #""number":"#
    guard let found = reply.find(name) else { return }
    frame.append(name)
    var index = found + name.utf8CodeUnitCount
    while index < reply.count, (48...57).contains(reply[index]) {
      frame.append(reply[index])
      index += 1
    }
    frame.append(",")
  }

  /// Marks the login slot as stale and returns `outcome`.
  private mutating func markStale(_ user: borrowing User, _ outcome: Outcome) -> Outcome {
    guard case .connected(let channel) = unsafe Channel.connect(in: user.directory, until: deadline),
      send(Self.mark, on: channel), channel.receive(&reply)
    else { return .broken }
    return outcome
  }

  private mutating func send(_ call: StaticString, on channel: borrowing Channel) -> Bool {
    frame.clear()
    frame.append(call)
    frame.append(UInt8(0))
    return channel.send(frame)
  }

  /// The outcome for the error in `reply`.
  private var fault: Outcome {
    if reply.find(#""error":"io.vaultd.Vault.AuthenticationFailed""#) != nil { return .refused }
    let harmless =
      reply.find(#""error":"io.vaultd.Vault.NoVault""#) ?? reply.find(#""error":"io.vaultd.Vault.MethodUnavailable""#)
    return harmless != nil ? .nothing : .broken
  }
}

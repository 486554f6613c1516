internal import VaultBytes
internal import VaultHelper
internal import VaultWire

/// The conversation with `vault` about one source.
final class ImportConversation {
  /// The ends at which `vault` cannot be told anything more, as the program's exit codes (sysexits.h).
  enum End: Int32 {
    /// A call made no sense, or `vault` hung up.
    case noCall = 65
    /// A reply could not be sent.
    case noReply = 74
  }

  /// The bytes of short replies that are sent together. A call of the kernel for each would take longer than they do.
  private static let room = 32 << 10

  private var frames: HelperConversation
  private var waiting = SecretBuffer(capacity: room)
  /// The end; nil while the conversation goes on.
  private(set) var end: End?

  init(_ frames: consuming HelperConversation) { self.frames = frames }

  // MARK: Calls

  /// Receives the files, up to the call to read them.
  func order() throws(ImportFailure) -> ImportOrder {
    let frame = try receive()
    guard case .begin(let format)? = ImportCall(frame) else { throw stop(.noCall) }
    var order = ImportOrder(format: format)
    while true {
      let frame = try receive()
      switch ImportCall(frame) {
      case .file(let path, let count, let modified)?:
        guard try order.begin(path, count: count, modified: modified) else { throw stop(.noCall) }
      case .part?:
        guard let part = ImportCall.value(frame), order.add(part) else { throw stop(.noCall) }
      case .read?:
        guard order.isWhole else { throw stop(.noCall) }
        return order
      case .begin?, .secret?, .noSecret?, nil: throw stop(.noCall)
      }
    }
  }

  /// Asks for a secret; nil if there is none.
  func ask(_ question: ImportQuestion) throws(ImportFailure) -> [UInt8]? {
    try send(.asks(question))
    try flush()
    let frame = try receive()
    switch ImportCall(frame) {
    case .noSecret?: return nil
    case .secret?:
      guard let secret = ImportCall.value(frame), secret.count <= Self.longest(question.kind) else {
        throw stop(.noCall)
      }
      // The span is valid for the call, which copies it.
      return secret.withBytes { secret in unsafe secret.withUnsafeBytes { unsafe [UInt8]($0) } }
    case .begin?, .file?, .part?, .read?, nil: throw stop(.noCall)
    }
  }

  private static func longest(_ kind: ImportQuestion.Kind) -> Int {
    switch kind {
    case .password: ImportCall.longestSecret
    case .keyFile: ImportCall.longestPart
    }
  }

  private func receive() throws(ImportFailure) -> Frame {
    guard end == nil, let frame = frames.next() else { throw stop(.noCall) }
    return frame
  }

  // MARK: Replies

  /// Sends a reply, now or together with later ones.
  func send(_ reply: consuming ImportReply) throws(ImportFailure) {
    let frame = reply.frame()
    guard frame.count <= ImportReply.frameLimit else {
      throw ImportFailure(.tooLarge, "an entry is described by more than \(ImportReply.frameLimit >> 20) MiB")
    }
    if frame.count > Self.room - waiting.count { try flush() }
    if frame.count > Self.room { return try transmit(frame) }
    frame.withBytes { waiting.append($0) }
  }

  /// Sends the replies that wait.
  func flush() throws(ImportFailure) {
    guard waiting.count > 0 else { return }
    try transmit(waiting)
    waiting.removeAll()
  }

  /// Tells `vault` of a failure, unless the conversation has ended.
  func fail(_ failure: ImportFailure) {
    do throws(ImportFailure) {
      try send(.failed(failure))
      try flush()
    } catch {
      // `end` tells it.
    }
  }

  private func transmit(_ bytes: borrowing SecretBuffer) throws(ImportFailure) {
    guard end == nil, frames.send(bytes) else { throw stop(.noReply) }
  }

  /// Ends the conversation. The error only leads out of the reader: nobody is told of it.
  private func stop(_ end: End) -> ImportFailure {
    self.end = self.end ?? end
    return ImportFailure(.failed, "the conversation has ended")
  }
}

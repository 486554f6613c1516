internal import VaultBytes
internal import VaultWire

/// The replies to a call that were received while a person answers a question of the call.
///
/// Any failure waits until the next reply is asked for, because the person is still at the question.
final class EarlyReplies {
  /// The most replies that are kept. A question may be told about a few other programs, and about fingers.
  private static let most = 32
  /// The most messages that are shown before the answer. The process that listens at the socket's path may send them
  /// without end; the rest comes under ``PromptRules`` after the answer.
  private static let mostMessages = PromptRules.most

  private final class Kept {
    var frame: Frame?
    /// The message for a person that the reply is; nil for every other reply.
    let message: Wire.Prompt?

    init(_ frame: consuming Frame, message: Wire.Prompt?) {
      self.frame = consume frame
      self.message = message
    }
  }

  private let connection: Connection
  private var kept: [Kept] = []
  private var failure: ClientError?
  /// True once the last reply was received.
  private var isOver = false
  /// True once a reply has asked another question.
  private var asks = false
  private var messages = 0

  init(_ connection: Connection) { self.connection = connection }

  /// The descriptor that is readable when replies may have arrived; nil if no more are taken in.
  var descriptor: Int32? {
    isOver || failure != nil || kept.count >= Self.most ? nil : connection.socket.number
  }

  /// True once the last reply, or a failure, was received.
  var areOver: Bool { isOver || failure != nil }

  /// Takes in the replies that have arrived; returns true once one of them asks a question.
  func takeIn() -> Bool {
    while descriptor != nil {
      do throws(ClientError) {
        guard let frame = try connection.receiveArrived() else { return false }
        let prompt = Self.prompt(of: frame)
        asks = prompt?.style.wantsAnswer ?? false
        kept.append(Kept(frame, message: asks ? nil : prompt?.words))
        if prompt == nil { return stop() }
        if asks { return true }
      } catch {
        failure = error
      }
    }
    return false
  }

  /// Returns the first reply that was taken in; nil if there is none.
  ///
  /// - Throws: the failure after the last of them.
  func take() throws(ClientError) -> Frame? {
    guard kept.isEmpty else {
      if kept.count == 1 { asks = false }
      return kept.removeFirst().frame.take()
    }
    if let failure { throw failure }
    return nil
  }

  /// Removes and returns the first reply that was taken in, if it is a message about the question that is still open.
  func takeMessage() -> Wire.Prompt? {
    guard !asks, messages < Self.mostMessages, let message = kept.first?.message,
      message.text.utf8.count <= PromptRules.longestText
    else { return nil }
    messages += 1
    kept.removeFirst()
    return message
  }

  private func stop() -> Bool {
    isOver = true
    return false
  }

  /// The prompt in a reply, and its style; nil for every other reply.
  private static func prompt(of frame: borrowing Frame) -> (style: Prompt.Style, words: Wire.Prompt)? {
    guard let reply = try? Reply(frame), reply.error == nil, reply.continues,
      let prompt = try? Wire.Question(frame, reply.parameters).prompt
    else { return nil }
    return Prompt.Style(rawValue: prompt.style).map { ($0, prompt) }
  }
}

internal import VaultWire

/// A question that waits for its answer. The daemon may withdraw it meanwhile, and ask another one or end the
/// conversation.
public final class OpenQuestion {
  private let replies: EarlyReplies
  /// True once ``look()`` has found that the daemon asks another question.
  public private(set) var isWithdrawn = false

  /// True once ``look()`` has found that the conversation has ended, so that no answer to the question counts.
  public var isOver: Bool { replies.areOver }

  init(_ replies: EarlyReplies) { self.replies = replies }

  /// A descriptor that is readable when ``look()`` is to be called again; nil if there is nothing to wait for. At the
  /// end of the conversation, the question counts as open, so that nothing else takes what the person is typing.
  public var descriptor: Int32? { isWithdrawn ? nil : replies.descriptor }

  /// Takes in what the daemon has said since the question, without a wait.
  public func look() {
    if !isWithdrawn { isWithdrawn = replies.takeIn() }
  }

  /// Returns the next message that the daemon has sent about the question, as that another program asks for the same;
  /// nil if there is none. A message that nobody takes here is put after the answer. Call ``look()`` before.
  public func message() -> Prompt? {
    guard !isWithdrawn, let message = replies.takeMessage(), let style = Prompt.Style(rawValue: message.style) else {
      return nil
    }
    return Prompt(style: style, method: message.method, text: message.text, code: nil, open: nil)
  }
}

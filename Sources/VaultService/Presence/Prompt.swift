/// A question or a message for a person.
package struct Prompt {
  /// The style of a prompt; the raw values are the words of the interface.
  package enum Style: String, Sendable {
    case secret
    case newSecret = "new-secret"
    case confirm
    case visible
    /// A question that `y` answers with yes, and everything else with no.
    case choice
    /// A message; nobody answers.
    case info
    /// A message of something that went wrong; nobody answers.
    case error

    package var wantsAnswer: Bool { self != .info && self != .error }
  }

  package let style: Style
  /// The number of the question in its conversation, from 1; nil for a message. The answer names it.
  package let number: Int?
  /// The name of the method that asks.
  package let method: String
  package let text: String
  /// The code that ``Style/confirm`` shows, once.
  package let code: Handover?
}

/// A place where a person is asked.
///
/// It shows the prompts of a conversation, and passes the answers to ``Conversation/answer(_:to:)``.
package protocol Prompter: AnyObject {
  /// The caller on whose behalf the person is asked.
  var caller: Caller { get }
  /// True while the caller's process runs. If this returns false, the caller has already been refused.
  var isPresent: Bool { get }
  /// Begins a conversation, which receives the answers.
  func begin(_ conversation: Conversation)
  /// Shows a prompt.
  func show(_ prompt: Prompt)
  /// Notes that the conversation is over, so that its question must not be answered any more. The result or the refusal
  /// follows, if anybody is to be told.
  func end()
  /// Ends the conversation with its result.
  func finish(_ result: ConversationResult)
  /// Ends the conversation with a refusal.
  func refuse(_ refusal: Refusal)
}

/// The result of a conversation whose operation was done.
package enum ConversationResult {
  case done
  /// A slot was made.
  case slot(UInt32)
  /// A rekey is under way. If it was just begun: the number of its items, the slots that it carries over, and the slots
  /// that it leaves out.
  case rekeying((of: Int, slots: [UInt32], leftOut: [UInt32])?)
}

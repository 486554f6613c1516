/// Something that is put to a person.
package struct Prompt {
  /// The style of a prompt: the words of the interface.
  package enum Style: String, Sendable {
    case secret
    case newSecret = "new-secret"
    case confirm
    case visible
    /// Answered with yes by `y`, with no by everything else.
    case choice
    /// To be shown; nobody answers.
    case info
    /// The same, when something went wrong.
    case error

    package var wantsAnswer: Bool { self != .info && self != .error }
  }

  package let style: Style
  /// The way in that asks, by its name.
  package let method: String
  package let text: String
  /// The code that ``Style/confirm`` shows, once.
  package let code: Handover?
}

/// A place where a person is asked.
///
/// It shows what a conversation has to say, and gives it the answers (``Conversation/answer(_:)``).
package protocol Prompter: AnyObject {
  /// The one who wants something done.
  var caller: Caller { get }
  /// True while the process of the caller runs. One that has ended was refused when this answers false.
  var isPresent: Bool { get }
  /// A conversation begins, which gets the answers.
  func begin(_ conversation: Conversation)
  /// Shows a prompt.
  func show(_ prompt: Prompt)
  /// The conversation is over: its question is not to be answered any more. What it has come to follows, if anybody is to
  /// be told.
  func end()
  /// The conversation has come to its end with what was wanted.
  func finish(_ result: ConversationResult)
  /// The conversation has come to its end without it.
  func refuse(_ refusal: Refusal)
}

/// The end of a conversation that came to what was wanted.
package enum ConversationResult {
  case done
  /// A slot was made.
  case slot(UInt32)
  /// A rekey is under way. Where it was just begun: the number of its items, the slots that come along, and those that do
  /// not.
  case rekeying((of: Int, slots: [UInt32], leftOut: [UInt32])?)
}

internal import VaultBytes
internal import VaultWire

/// A question for a person.
///
/// Its text is plain: one line in each string, without control, bidi or zero-width characters, and not escaped for any
/// format.
struct Question {
  /// The kind of answer that is wanted.
  enum Kind: Equatable {
    /// A secret, typed without echo.
    case secret
    /// A line, typed with echo.
    case visible
    /// Yes or no.
    case choice
    /// An approval: once, for the process, always, or no. `session` is false when the process cannot be told from
    /// another one.
    case approval(session: Bool)
    /// A proof of presence: nothing is typed; the person puts a finger on the reader.
    case presence

    /// The meanings of the choices that a face offers, in one line; empty unless the question is an approval.
    func terms(_ offered: [Term]) -> [String] {
      guard case .approval(let session) = self else { return [] }
      let meanings = offered.compactMap { session || $0 != .session ? $0.meaning : nil }
      let text = meanings.joined(separator: "; ")
      return text.isEmpty ? [] : [text]
    }
  }

  /// The time for which an approval counts.
  enum Term: CaseIterable {
    case once, session, always

    fileprivate var meaning: String {
      switch self {
      case .once: "“once” counts within five minutes"
      case .session: "“this process” until the next lock"
      case .always: "“always” until the grant is revoked"
      }
    }
  }

  let kind: Kind
  /// The request, in one line: ``iothome.service asks to get `iothome/express.key` ``.
  let title: String
  /// The facts below the title: messages from PAM or the vault, who asks, and for how long a yes counts. The time for
  /// which an approval counts depends on the choices of the face: see ``Kind/terms(_:)``.
  let facts: [String]
  /// The caller's own words, to be shown last and marked as the caller's; nil when there are none.
  let words: String?
  /// The name of the field for the answer, such as "Vault password".
  let prompt: String
  /// The inquiry, for a face that writes JSON.
  let inquiry: Wire.Inquiry
  /// True for the machine's vault.
  let isSystem: Bool

  /// The facts, with all the terms of an approval.
  var factsAndTerms: [String] { facts + kind.terms(Term.allCases) }
}

/// A person's answer.
enum Answer: ~Copyable {
  case typed(SecretBuffer)
  case yes
  case no
  /// The answers to an approval.
  case once, session, always
  /// The person does not want to answer now.
  case dismissed
}

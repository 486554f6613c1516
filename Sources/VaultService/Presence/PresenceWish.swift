internal import VaultModel

/// A call's wish that a person shows presence.
struct PresenceWish {
  /// The effect of a yes.
  enum Effect: Equatable {
    /// The yes counts as a proof for this session, and for nothing else.
    case proof(AuthenticationSession)
    /// The yes unlocks the vault.
    case unlock
    /// The yes allows a change, such as another slot.
    case change
  }

  let conversation: Conversation
  let purpose: Purpose
  let effect: Effect
  /// Receives the outcome, and the seconds to wait before the next attempt.
  let then: (PresenceOutcome, Int64) -> Void

  /// True if a yes to `other` gives this wish all that it asks for: a proof serves every program of its session.
  func isServed(by other: PresenceWish) -> Bool {
    if case .proof = effect { effect == other.effect } else { false }
  }

  /// True if an unlock by another call ends this wish.
  var endsWithUnlock: Bool { conversation.endsWhenUnlocked }

  /// Tells the call the outcome, unless the call has ended.
  func end(_ outcome: PresenceOutcome, _ wait: Int64) { if !conversation.isOver { then(outcome, wait) } }

  /// Shows the call's person a message.
  func tell(_ text: String) { conversation.tell(.info, method: SlotKind.pam.name, text: text) }
}

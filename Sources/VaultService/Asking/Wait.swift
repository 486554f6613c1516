package import VaultModel

/// The reason why a call cannot be answered now: the event that has to come first.
package enum Wait: Hashable, Sendable {
  /// The unlock of the vault.
  case unlock
  /// The arrival of the boot key, for which no person is needed.
  case bootKey
  /// The turn of a long answer, and room for it.
  case room
  /// An administrator's answer to the request with this number.
  case approval(QuestionNumber)
  /// The presence of a person, as the item of this name requires it.
  case presence(ItemName, Requirement)
  /// A person's consent to one use of the key with this fingerprint.
  case confirmation(String)
  /// A signature by a large RSA key, or the call's turn to have one made, with the number of the call's ``RSAOrder``.
  case signature(Int)

  /// True if the wait contains the name of an item, or the number of a request or an order that contains such a name. A
  /// lock that hides names ends such a wait.
  package var tellsName: Bool {
    switch self {
    case .approval, .presence, .signature: true
    case .unlock, .bootKey, .room, .confirmation: false
    }
  }
}

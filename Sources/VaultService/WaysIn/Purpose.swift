internal import VaultCore
internal import VaultModel

/// The purpose for which a person is asked, as prompts put it.
struct Purpose {
  enum Act {
    case unlock
    case changePassword
    /// Words that go on from the name of a secret, such as "to add a slot".
    case other(String)
  }

  private let act: Act
  /// What the caller says of why, shown as its own words; empty when it says nothing.
  private let reason: String

  init(_ act: Act, _ said: Said? = nil) {
    self.act = act
    // Cut before it is looked at: it may be as long as a frame.
    let words = Printable.line(String((said?.purpose ?? "").unicodeScalars.prefix(200))).prefix(200)
    reason = words.isEmpty ? "" : " (asked by: \(words))"
  }

  /// What is done, as in "to unlock the vault".
  var phrase: String {
    let what =
      switch act {
      case .unlock: "to unlock the vault"
      case .changePassword: "to change the password"
      case .other(let words): words
      }
    return what + reason
  }

  /// The question for a secret. What is plain from the secret's name alone is not said.
  func question(for kind: SlotKind) -> String {
    let name =
      switch kind {
      case .password: "Vault password"
      case .recovery: "Recovery code"
      case .pam, .login: "Login password"
      }
    return switch act {
    case .unlock: name + reason
    case .changePassword where kind == .recovery: name + reason
    case .changePassword: "Current \(name.lowercased())\(reason)"
    case .other(let words): "\(name) \(words)\(reason)"
    }
  }
}

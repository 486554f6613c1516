internal import VaultCore
internal import VaultModel

/// The purpose for which a person is asked, in the words of prompts.
struct Purpose {
  enum Act {
    case unlock
    case changePassword
    /// Words that follow the name of a secret, such as "to add a slot".
    case other(String)
  }

  private let act: Act
  /// The caller's own reason, shown as its words; empty if it gave none.
  private let reason: String

  init(_ act: Act, _ said: Said? = nil) {
    self.act = act
    // The words are cut before they are examined, because they may be as long as a frame.
    let words = Printable.words(String((said?.purpose ?? "").unicodeScalars.prefix(200))).prefix(200)
    reason = words.isEmpty ? "" : " (asked by: \(Self.enclosed(words)))"
  }

  /// The words, in which a closing parenthesis without an opening one is spelled out, so that they do not seem to end
  /// before their end.
  private static func enclosed(_ words: Substring) -> String {
    var open = 0
    return words.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar == ")", open == 0 {
        text += "\\u{29}"
        return
      }
      if scalar == "(" { open += 1 } else if scalar == ")" { open -= 1 }
      text.unicodeScalars.append(scalar)
    }
  }

  /// The purpose as a phrase, as in "to unlock the vault".
  var phrase: String {
    let what =
      switch act {
      case .unlock: "to unlock the vault"
      case .changePassword: "to change the password"
      case .other(let words): words
      }
    return what + reason
  }

  /// The question for a secret. The purpose is left out if the name of the secret makes it plain.
  func question(for kind: SlotKind) -> String {
    let name = kind.facts.question
    return switch act {
    case .unlock: name + reason
    case .changePassword where kind.facts.secret == .code: name + reason
    case .changePassword: "Current \(name.lowercased())\(reason)"
    case .other(let words): "\(name) \(words)\(reason)"
    }
  }
}

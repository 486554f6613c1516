internal import VaultModel
internal import VaultWire

/// The words of a question: who asks, for what, for how long a yes counts, and last the caller's own words.
enum QuestionText {
  /// The most callers that a question lists.
  private static let mostAskers = 3

  /// - Parameter prompt: the daemon's prompt, which names the field for the answer.
  static func question(
    _ kind: Question.Kind, _ inquiry: Wire.Inquiry, isSystem: Bool, told: [String] = [], prompt: String = "Answer"
  ) -> Question {
    let words = inquiry.askers.lazy.compactMap(\.reason).first
    return Question(
      kind: kind, title: title(inquiry, isSystem: isSystem),
      facts: (told.filter { !$0.isEmpty } + askers(inquiry) + validity(inquiry)).map { Printable.text($0) },
      words: words.map { Printable.text($0) }, prompt: label(prompt), inquiry: inquiry, isSystem: isSystem)
  }

  /// Returns a prompt without the colon that PAM's modules put at its end; each face adds its own.
  private static func label(_ prompt: String) -> String {
    var label = Printable.text(prompt)[...]
    while let last = label.last, last == " " || last == ":" { label.removeLast() }
    return label.isEmpty ? "Answer" : String(label)
  }

  /// The name of a vault, as the title of notices and questions.
  static func title(isSystem: Bool) -> String { isSystem ? "The machine's vault" : "Vault" }

  private static func title(_ inquiry: Wire.Inquiry, isSystem: Bool) -> String {
    let vault = isSystem ? "the machine's vault" : "the vault"
    let name = Printable.wholeQuoted(inquiry.name ?? "")
    if inquiry.about == "approval" {
      let subject = Printable.whole(inquiry.subject ?? "somebody")
      return "\(subject) asks to \(Printable.text(inquiry.right ?? "get")) \(name)" + (isSystem ? " from \(vault)" : "")
    }
    let others = max(0, inquiry.count - 1)
    let first = inquiry.askers.first.map { Printable.text($0.unit ?? $0.chain.first ?? "process \($0.pid)") }
    let who = (first ?? "somebody") + (others > 0 ? " and \(others) \(others == 1 ? "other" : "others") ask" : " asks")
    switch inquiry.about {
    case "confirmation": return "\(who) to use a key that asks you each time"
    case "presence": return "\(who) for \(name) from \(vault), which requires proof that you are here"
    default: return "\(who) to unlock \(vault)"
    }
  }

  private static func askers(_ inquiry: Wire.Inquiry) -> [String] {
    let missing = inquiry.missing == true ? ["there is no item of that name"] : []
    let shown = inquiry.askers.prefix(mostAskers)
    let lines = shown.flatMap { asker in
      let parts = [
        "process \(asker.pid) of \(asker.user.map { "user \($0)" } ?? "uid \(asker.uid)")",
        asker.unit.map { "unit \($0)" }, asker.terminal.map { "on \($0)" },
      ].compactMap { $0 }
      // The name is only apparent, because another process can have the same one.
      let name = asker.chain.first ?? asker.executable
      let file = asker.chain.isEmpty ? nil : asker.executable.map { " (\($0))" }
      let from = asker.chain.count < 2 ? "" : ", started by \(asker.chain.dropFirst().joined(separator: " ← "))"
      let advice = name.map { ["apparently \($0)\(file ?? "")\(from)"] } ?? []
      let task = asker.task.map { ["for: \($0)"] } ?? []
      return ["asked by " + parts.joined(separator: ", ")] + task + advice
    }
    let others = inquiry.askers.isEmpty ? 0 : inquiry.count - shown.count
    return missing + lines + (others > 0 ? ["and by \(others) more"] : [])
  }

  private static func validity(_ inquiry: Wire.Inquiry) -> [String] {
    func time(_ seconds: Int) -> String { Seconds.format(Int64(seconds)) }
    switch inquiry.about {
    // The time depends on the choices that a face offers.
    case "approval": return []
    case "confirmation": return ["your answer counts once"]
    case "presence":
      let reuse = inquiry.reuse ?? 0
      return [reuse > 0 ? "your answer counts for \(time(reuse)) in that session" : "your answer counts once"]
    default:
      let idle = inquiry.idle.map { "when nobody has used it for \(time($0))" }
      let age = inquiry.age.map { "after \(time($0)) in any case" }
      let times = [idle, age].compactMap { $0 }
      return [
        times.isEmpty
          ? "it stays unlocked until it is told to lock" : "it locks again " + times.joined(separator: ", and ")
      ]
    }
  }
}

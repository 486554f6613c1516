internal import VaultModel
internal import VaultWire

/// The words of a question: who asks, for what, for how long a yes counts, and last the caller's own words.
enum QuestionText {
  /// The most callers that are told of.
  private static let mostAskers = 3

  /// - Parameter prompt: what the daemon asks for, above the facts; nil of an approval.
  static func question(
    _ kind: Question.Kind, _ inquiry: Wire.Inquiry, isSystem: Bool, told: [String] = [], prompt: String = "Answer"
  ) -> Question {
    let words = inquiry.askers.lazy.compactMap(\.reason).first
    return Question(
      kind: kind, title: title(inquiry, isSystem: isSystem),
      facts: (told.filter { !$0.isEmpty } + askers(inquiry) + validity(inquiry)).map { Printable.text($0) },
      words: words.map { Printable.text($0) }, prompt: Printable.text(prompt), inquiry: inquiry, isSystem: isSystem)
  }

  /// The name of a vault, as the title of what is told.
  static func title(isSystem: Bool) -> String { isSystem ? "The machine's vault" : "Vault" }

  private static func title(_ inquiry: Wire.Inquiry, isSystem: Bool) -> String {
    let vault = isSystem ? "the machine's vault" : "the vault"
    let name = Printable.quoted(inquiry.name ?? "")
    let others = inquiry.count > 1 ? " and \(inquiry.count - 1) more" : ""
    let who = inquiry.askers.first.map { Printable.text($0.unit ?? $0.chain.first ?? "process \($0.pid)") + others }
    switch inquiry.about {
    case "approval":
      let subject = Printable.text(inquiry.subject ?? "somebody")
      return "\(subject) asks to \(Printable.text(inquiry.right ?? "get")) \(name) of \(vault)"
    case "presence": return "\(who ?? "Somebody") asks for \(name) of \(vault), which wants to know that you are there"
    default: return "\(who ?? "Somebody") asks to open \(vault)"
    }
  }

  private static func askers(_ inquiry: Wire.Inquiry) -> [String] {
    let missing = inquiry.missing == true ? ["there is no item of that name"] : []
    let shown = inquiry.askers.prefix(mostAskers)
    let lines = shown.flatMap { asker in
      let parts = [
        "process \(asker.pid) of \(asker.user ?? "uid \(asker.uid)")", asker.unit.map { "unit \($0)" },
        asker.terminal.map { "on \($0)" },
      ].compactMap { $0 }
      // Another process can look the same.
      let advice = [
        asker.executable.map { "runs \($0)" }, asker.chain.isEmpty ? nil : asker.chain.joined(separator: " ← "),
      ].compactMap { $0 }
      return ["asked by " + parts.joined(separator: ", ")]
        + (advice.isEmpty ? [] : ["as far as that can be told: " + advice.joined(separator: ", ")])
    }
    let others = inquiry.count - shown.count
    return missing + lines + (others > 0 ? ["and \(others) more"] : [])
  }

  private static func validity(_ inquiry: Wire.Inquiry) -> [String] {
    func time(_ seconds: Int) -> String { Seconds.format(Int64(seconds)) }
    switch inquiry.about {
    case "approval":
      return ["once counts within five minutes; for the process until a lock; always until the grant is revoked"]
    case "presence":
      let reuse = inquiry.reuse ?? 0
      return [reuse > 0 ? "it counts for \(time(reuse)), in that session" : "it counts once"]
    default:
      let idle = inquiry.idle.map { "after \(time($0)) without you" }
      let age = inquiry.age.map { "after \(time($0)) in any case" }
      let times = [idle, age].compactMap { $0 }
      return [
        times.isEmpty ? "it stays open until something locks it" : "it locks again " + times.joined(separator: ", ")
      ]
    }
  }
}

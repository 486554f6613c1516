internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Checks for an item that would require a proof which nobody could give, so that its value would be out of reach.
enum Proof {
  /// Asks whether to store an item whose proof nobody can give here and now.
  ///
  /// - Throws: ``Failure`` if the answer is no, and also if nobody can be asked.
  static func confirm(_ require: String, _ session: Session) throws(Failure) {
    guard let obstacle = try obstacle(to: require, session) else { return }
    let consequence = "\(obstacle), so the value could not be read"
    let question = "\(consequence.prefix(1).uppercased())\(consequence.dropFirst()). Store it anyway?"
    try Confirmation(consequence: consequence, question: question, advice: advice).ask()
  }

  /// Warns that nobody can give the proof for an item of a batch here and now. The item is stored anyway: others may be
  /// able to give the proof, now or later.
  static func warn(_ require: String, line: Int, _ session: Session) throws(Failure) {
    guard let obstacle = try obstacle(to: require, session) else { return }
    Output.note("line \(line): \(obstacle), so the value could not be read; \(advice)")
  }

  private static var advice: String { "add the way in first (\(Hint.vault("help slot add")))" }

  /// The reason why nobody can give the proof here and now; nil if somebody can.
  private static func obstacle(to require: String, _ session: Session) throws(Failure) -> String? {
    let ways = ways(of: Requirement(name: require) ?? .none)
    guard !ways.isEmpty else { return nil }
    let methods = try session.call { vault in try vault.status() }.methods.filter { ways.contains($0.name) }
    guard let first = methods.first, !methods.contains(where: \.available) else { return nil }
    let reason = first.reason.map { " (\(Printable.text($0)))" } ?? ""
    return "nobody can give the proof \(Printable.quoted(require)) here now\(reason)"
  }

  /// The ways in that can give a proof.
  private static func ways(of requirement: Requirement) -> [String] {
    switch requirement {
    case .none: []
    case .userPresence: ["pam", "fingerprint", "password"]
    case .biometry: ["fingerprint"]
    case .password: ["password"]
    }
  }
}

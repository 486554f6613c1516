internal import VaultModel

/// The open prompts of all programs, in the order in which they were made.
package final class KeyringPrompts: SecretHolder {
  /// The places for prompts that a holder has for itself, and those that all holders share beyond these.
  ///
  /// Programs destroy data after a prompt that is dismissed. So a holder with few prompts loses none because of others,
  /// and always gets a new one.
  static let (own, shared) = (16, 1024)

  package private(set) var all: [KeyringPrompt] = []
  /// The number of prompts of each holder.
  private var counts: [Access.Holder: Int] = [:]

  /// The prompt with this number.
  subscript(number: QuestionNumber) -> KeyringPrompt? { all.first { $0.number == number } }

  /// The prompts that wait for something; a program may not have begun others yet.
  package var begun: [KeyringPrompt] { all.filter(\.isBegun) }

  /// Adds a prompt. If it takes a shared place and there is none left, the holder with most prompts loses one; at a tie
  /// with others, the one that asks.
  func add(_ prompt: KeyringPrompt) {
    if let holder = prompt.holder {
      makeRoom(for: holder)
      counts[holder, default: 0] += 1
    }
    all.append(prompt)
  }

  private func makeRoom(for asking: Access.Holder) {
    let count = counts[asking, default: 0] + 1
    guard count > Self.own else { return }
    let taken = counts.values.reduce(1) { $0 + max(0, $1 - Self.own) }
    guard taken > Self.shared, let most = counts.values.max() else { return }
    // Of several other holders with as many, the one with the oldest prompt gives way.
    let holder = count >= most ? asking : all.lazy.compactMap(\.holder).first { self.counts[$0] == most }
    let prompts = all.filter { $0.holder == holder }
    // Nobody waits for a prompt that was not begun.
    let leaving = prompts.first { !$0.isBegun } ?? prompts.first
    leaving?.dismiss()
  }

  func remove(_ prompt: KeyringPrompt) {
    all.removeAll { $0 === prompt }
    guard let holder = prompt.holder, let count = counts[holder] else { return }
    counts[holder] = count == 1 ? nil : count - 1
  }

  /// Refuses a prompt for a person: its program is told that the person does not want it.
  ///
  /// - Returns: the prompt, which is over.
  package func refuse(
    _ number: QuestionNumber, for caller: Caller, _ access: Access
  ) throws(Refusal) -> KeyringPrompt {
    let prompt = self[number].flatMap { $0.isBegun ? $0 : nil }
    let program = prompt.map { "process \($0.caller.pid)" }
    let detail = ["a prompt of the keyring", program, "number \(number)"].compactMap(\.self).joined(separator: ", ")
    return try access.vault.audit.recording(.deny, caller, nil, detail: detail) { entry throws(Refusal) in
      try access.checkAdministrator(caller)
      guard let prompt else { throw .noSuchRequest(number) }
      try access.vault.audit.settle(entry)
      prompt.dismiss()
      return prompt
    }
  }

  // MARK: Events

  /// Notes that something may have come that programs lack: prompts that lack nothing any more end.
  func look() { for prompt in all { prompt.look() } }

  /// Notes an unlock or a new agent: what was put off is asked again.
  func wake() { for prompt in all { prompt.wake() } }

  override package func letGo(for lock: Lock) {
    if lock.reach.contains(.names) { for prompt in all where prompt.tellsName { prompt.forgetNames() } }
  }

  override package func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && all.contains(where: \.tellsName)
  }
}

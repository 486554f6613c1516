internal import VaultModel

/// The open prompts of all programs, in the order in which they were made.
package final class KeyringPrompts: SecretHolder {
  /// The most open prompts. Beyond it, the process that has most of them loses its oldest one; at a tie, the one that
  /// asks.
  static let most = 1024

  package private(set) var all: [KeyringPrompt] = []

  /// The prompt with this number.
  subscript(number: QuestionNumber) -> KeyringPrompt? { all.first { $0.number == number } }

  /// The prompts that wait for something; a program may not have begun others yet.
  package var begun: [KeyringPrompt] { all.filter(\.isBegun) }

  /// - Throws: the fault if there are too many, and no program has more than the one that asks.
  func add(_ prompt: KeyringPrompt) throws(KeyringFault) {
    if all.count >= Self.most {
      var counts = Dictionary(grouping: all, by: \.process).mapValues(\.count)
      counts[prompt.process, default: 0] += 1
      let most = counts.values.max()
      let isOwn = counts[prompt.process] == most
      // Of several other processes that have as many, the one with the oldest prompt gives way.
      let leaving = all.first { isOwn ? $0.process == prompt.process : counts[$0.process] == most }
      guard let leaving else { throw .limitsExceeded("too many prompts are open") }
      leaving.dismiss()
    }
    all.append(prompt)
  }

  func remove(_ prompt: KeyringPrompt) { all.removeAll { $0 === prompt } }

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

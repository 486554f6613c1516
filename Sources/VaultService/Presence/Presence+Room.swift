// The number of prompts that are open at the same time. Each has a process of vault-pam, of which the helper's unit
// starts 16 at a time.
extension Presence {
  /// The most open prompts of one user, and of all users.
  static let (mostOfOne, most) = (4, 12)
  /// The time for which a prompt keeps its place if no other user or session has more prompts than its own, in
  /// nanoseconds: enough to read it and to type.
  static let tenure: Int64 = 30_000_000_000

  /// Returns true if one more prompt may be opened, for which another one may give way.
  func hasRoom(for caller: Caller) -> Bool {
    let own = prompts.filter { $0.question.uid == caller.uid }
    if own.count >= Self.mostOfOne { return makeRoom(in: own, for: caller.session) { $0.session } }
    return prompts.count < Self.most || makeRoom(in: prompts, for: caller.uid) { $0.question.uid }
  }

  /// Has the longest open prompt of a group with at least two more prompts than the asker's group give way, or else one
  /// of a group with as many as the asker's that has had its time. Thus no group that has few prompts loses one to a
  /// group that has many.
  ///
  /// - Returns: false if no prompt gives way. A prompt whose answer is being checked does not, because its end is near.
  private func makeRoom<Group: Hashable>(
    in open: [PresencePrompt], for group: Group, by groupOf: (PresencePrompt) -> Group
  ) -> Bool {
    let sizes = Dictionary(open.map { (groupOf($0), 1) }, uniquingKeysWith: +)
    let (own, now) = (sizes[group] ?? 0, vault.clock.monotonic())
    let yielding = open.filter { !$0.isAnswered }
    func size(_ prompt: PresencePrompt) -> Int { sizes[groupOf(prompt)] ?? 0 }
    let chosen =
      yielding.first { size($0) > own + 1 }
      ?? yielding.first { size($0) >= own && now - $0.opened >= Self.tenure }
    chosen?.giveWay("this prompt gave way to another one, because too many were open")
    return chosen != nil
  }
}

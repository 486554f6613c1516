// The fingerprint reader, which serves one PAM conversation at a time.
//
// A prompt for a finger alone waits its turn. A prompt that also takes a password needs no reader: PAM asks for the
// password while another prompt has the reader. But its check takes the reader if it is free. So it does not begin
// while the reader changes hands, and it leaves the reader to a prompt that has waited for long enough, and begins
// again. It is never ended for the sake of the reader, because then nobody would be asked for the password.
extension Presence {
  /// The time without a sign of a person after which a prompt gives up the reader to one that waits, in nanoseconds.
  static let patienceAtReader: Int64 = 10_000_000_000
  /// The same time for a prompt that has left the reader before, and found it free again: longer than PAM modules wait
  /// for a finger by themselves, so that PAM comes to the password.
  static let patienceAfterYielding: Int64 = 60_000_000_000
  /// The time after which fprintd has surely noticed that a check was ended, and after which a check that begins has
  /// surely taken the reader, in nanoseconds.
  static let release: Int64 = 500_000_000

  /// True if a prompt may begin its check now.
  func mayBegin(_ prompt: PresencePrompt) -> Bool {
    let now = vault.clock.monotonic()
    if prompt.question.takesPassword { return timeToBegin(prompt, now) <= now }
    return now - reader.left >= Self.release
      && !prompts.contains { $0 !== prompt && ($0.isAtReader || $0.waitingSince != nil) }
  }

  /// The time at which a prompt that takes a password begins: at once or, while the reader changes hands, when the
  /// prompt for a finger alone surely has it. The wait has an end, however often the reader changes hands.
  private func timeToBegin(_ prompt: PresencePrompt, _ now: Int64) -> Int64 {
    let latest = (prompt.waitingSince ?? now) + 2 * Self.release
    if let finger = prompts.first(where: { $0.isAtReader && !$0.question.takesPassword }) {
      return finger === reader.first ? min(reader.taken + Self.release, latest) : now
    }
    let isFree = !prompts.contains(where: \.isAtReader)
    return isFree && prompts.contains(where: \.waitsForReader) ? latest : now
  }

  /// Notes that a prompt begins its check, which takes the reader unless another one has it.
  func willUseReader(_ prompt: PresencePrompt) {
    guard !prompts.contains(where: { $0 !== prompt && $0.isAtReader }) else { return }
    let now = vault.clock.monotonic()
    (reader.first, reader.user, reader.taken, reader.lastSign) = (prompt, prompt.question.uid, now, now)
  }

  /// Notes a sign of a person at a prompt.
  func noteSign(of prompt: PresencePrompt) {
    if reader.first === prompt { reader.lastSign = vault.clock.monotonic() }
  }

  /// Notes that a check was cut off that may have been at the reader.
  func readerIsLeft() { reader.left = vault.clock.monotonic() }

  /// Begins the prompts whose turn has come, and looks again when the next turn comes.
  func lookAtReader() {
    reader.turn?()
    reader.turn = nil
    if let turn = turnAtReader, turn <= vault.clock.monotonic() { return passReader() }
    for prompt in prompts where prompt.waitingSince != nil && prompt.question.takesPassword && mayBegin(prompt) {
      prompt.begin()
    }
    let now = vault.clock.monotonic()
    let waiting = prompts.filter { $0.waitingSince != nil && $0.question.takesPassword }
    guard let next = (waiting.map { timeToBegin($0, now) } + [turnAtReader].compactMap(\.self)).min() else { return }
    reader.turn = timer.after(max(next - now, 1)) { [weak self] in self?.lookAtReader() }
  }

  /// The time at which a prompt that waits for the reader has its turn; nil if none waits.
  private var turnAtReader: Int64? {
    guard prompts.contains(where: \.waitsForReader) else { return nil }
    guard prompts.contains(where: \.isAtReader) else { return reader.left + Self.release }
    let hasYielded = reader.first.map { $0.isAtReader && $0.hasYielded } ?? false
    return reader.lastSign + (hasYielded ? Self.patienceAfterYielding : Self.patienceAtReader)
  }

  /// Gives the reader, if it is free, to the prompt that has waited longest; else has the prompts at the reader leave
  /// it.
  private func passReader() {
    let users = prompts.filter(\.isAtReader)
    for prompt in users where prompt.question.takesPassword { prompt.yieldReader() }
    if let finger = users.first(where: { !$0.question.takesPassword }) {
      // The end of that prompt has the reader looked at again.
      return finger.giveWay("another prompt needed the fingerprint reader")
    }
    if users.isEmpty {
      let waiting = prompts.filter(\.waitsForReader)
      // Another user comes before one who has just had it, so that no user's many prompts hold others up.
      (waiting.first { $0.question.uid != reader.user } ?? waiting.first)?.begin()
    }
    lookAtReader()
  }
}

// The fingerprint reader, which serves one PAM conversation at a time. A prompt that also takes a password needs no
// reader: PAM asks for the password while another prompt has the reader. But its check takes the reader if it is free,
// so the prompt does not begin before another user's that waits for the reader. A prompt for a finger alone waits its
// turn.
extension Presence {
  /// The time without a sign of a person after which a prompt gives up the reader to one that waits, and the time after
  /// which fprintd has surely noticed that a check was ended, in nanoseconds.
  static let (patienceAtReader, release): (Int64, Int64) = (10_000_000_000, 500_000_000)

  /// True if a prompt may begin its check now.
  func mayBegin(_ prompt: PresencePrompt) -> Bool {
    if prompt.question.takesPassword {
      return !prompts.contains { $0.waitsForReader && $0.question.uid != prompt.question.uid }
    }
    return vault.clock.monotonic() - readerLeft >= Self.release
      && !prompts.contains { $0 !== prompt && ($0.isAtReader || $0.waitsForReader) }
  }

  /// Notes that a check was cut off that may have been at the reader.
  func readerIsLeft() { readerLeft = vault.clock.monotonic() }

  /// Gives the reader to the prompt that has waited longest, once it is free.
  func lookAtReader() {
    turnAtReader?()
    turnAtReader = nil
    let waiting = prompts.filter(\.waitsForReader)
    // Another user comes before one who has just had it, so that no user's many prompts hold others up.
    guard let next = waiting.first(where: { $0.question.uid != lastAtReader }) ?? waiting.first else { return }
    let now = vault.clock.monotonic()
    let holder = prompts.first(where: \.isAtReader)
    let turn = holder.map { $0.lastSign + Self.patienceAtReader } ?? readerLeft + Self.release
    if turn > now {
      turnAtReader = timer.after(turn - now) { [weak self] in self?.lookAtReader() }
    } else if let holder {
      // The end of that prompt has the reader looked at again.
      holder.giveWay("another prompt needed the fingerprint reader")
    } else {
      next.begin()
      lookAtReader()
    }
  }
}

internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault totp`.
struct CodeRequest {
  let command: TOTPCommand

  init(_ command: TOTPCommand) { self.command = command }

  func run() throws(Failure) {
    let session = try Session(command.globals)
    session.vault.reason = command.waiting.reason
    // The check comes first, because each code of a counter-based item advances the counter.
    if command.clip { try Clipboard.check() }
    let code = try first(session)
    if command.watch { return try watch(code, session) }
    if command.clip { Output.note(try Clipboard.put(code.digits)) } else { try print(code) }
    // A pipe gets only the code. So does a person whose output goes elsewhere.
    if command.clip || Output.isTerminal, let left = Self.left(code.reply), Keyboard.isAttended {
      Output.note("\(left) s left")
    }
  }

  /// Reads the first code. With `--wait`, the daemon waits for an unlock. Otherwise, if somebody is there, that person
  /// is asked to unlock a locked vault, on the terminal or through an agent.
  private func first(_ session: Session) throws(Failure) -> OneTimeCode {
    let wait = command.waiting.wait.map { Duration.seconds($0) }
    func read(_ vault: Vault) throws -> OneTimeCode {
      try vault.code(
        command.name, wait: wait, expired: command.expired, ask: wait == nil && !Keyboard.canAsk)
    }
    if wait != nil { return try session.call(read) }
    return try session.unlocking(for: "vault totp \(command.name)", read)
  }

  private func print(_ code: borrowing OneTimeCode) throws(Failure) {
    if command.globals.json {
      return try Output.reply { writer in code.digits.withBytes { code.reply.write(to: &writer, secret: $0) } }
    }
    try code.digits.withBytes { bytes throws(Failure) in try Output.write(bytes) }
    if Output.isTerminal { try Output.text("\n") }
  }

  /// The seconds for which a code remains valid; nil for a counter-based code.
  private static func left(_ reply: Wire.CodeReply) -> Int64? { reply.until.map { max(0, $0 - now().seconds) } }

  private static func now() -> (seconds: Int64, nanoseconds: Int) {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return (Int64(time.tv_sec), time.tv_nsec)
  }

  // MARK: Watching

  /// Shows one code after the other: on a terminal in one place with the remaining seconds, elsewhere on a line each.
  private func watch(_ first: consuming OneTimeCode, _ session: Session) throws(Failure) {
    guard first.reply.until != nil else {
      // A counter-based code is used up once it is made, so it is shown.
      try print(first)
      if Keyboard.isAttended {
        Output.note("a counter-based code is made only on request, so there is nothing to watch")
      }
      return
    }
    // A program that polls by itself must not keep the vault open.
    session.vault.interactive = false
    let draws = Output.isTerminal && !command.globals.json
    // Without a terminal, the signals need no handling: no line is left open on the screen.
    let signals = try SignalPipe(draws ? [SIGINT, SIGTERM, SIGHUP, SIGQUIT] : [])
    var locks = try LockInbox(session.vault.location)
    var code = first
    var isShown = false
    while true {
      if !isShown, !draws {
        try print(code)
        if !command.globals.json && !Output.isTerminal { try Output.text("\n") }
      }
      if draws { try draw(code, signals) }
      isShown = true
      let pause = try pause(draws ? 1 : nil, until: code.reply.until, signals, locks)
      if case .closed = pause { return }
      if case .signal(let number) = pause {
        if draws { try Output.write(unsafe "\n".utf8.span.bytes, .none) }
        signals.deliver(number)
        isShown = false
        continue
      }
      // Some items are served while the vault is locked, so the daemon decides whether the code may stay visible.
      if case .locked = pause { locks.take() } else if !Self.isOver(code.reply) { continue }
      if locks.hasEnded { locks = try LockInbox(session.vault.location) }
      do throws(Failure) {
        let next = try session.call { vault in try vault.code(command.name, expired: command.expired) }
        isShown = isShown && next.reply.until == code.reply.until
        code = next
      } catch {
        // If there is no next code, the last one is removed from the screen.
        if draws { try Output.write(unsafe "\r\u{1B}[K".utf8.span.bytes, .none) }
        throw error
      }
    }
  }

  /// Returns true if the code is no longer valid, or if the clock was set back before the code's period.
  private static func isOver(_ reply: Wire.CodeReply) -> Bool {
    guard let until = reply.until else { return true }
    let now = now().seconds
    return now >= until || now < until - Int64(reply.period ?? 0)
  }

  private func draw(_ code: borrowing OneTimeCode, _ signals: borrowing SignalPipe) throws(Failure) {
    var line = SecretBuffer(capacity: 64)
    line.append("\r\u{1B}[K" as StaticString)
    code.digits.withBytes { line.append($0) }
    line.append(utf8: "  \(Self.left(code.reply) ?? 0) s left")
    try line.withBytes { bytes throws(Failure) in try Output.write(bytes, .until(signals.descriptor)) }
  }

  private enum Pause {
    case over
    case signal(Int32)
    /// The vault may have been locked.
    case locked
    /// Nobody reads the output any more.
    case closed
  }

  /// Waits for the next full second or, without `seconds`, until the code expires. A lock ends the wait.
  private func pause(
    _ seconds: Int64?, until: Int64?, _ signals: borrowing SignalPipe, _ locks: LockInbox
  ) throws(Failure) -> Pause {
    let now = Self.now()
    let whole = max(1, min(seconds ?? .max, (until ?? now.seconds) - now.seconds))
    // One millisecond more, so that the clock has reached the second.
    let milliseconds = min(whole, 60) * 1000 - Int64(now.nanoseconds / 1_000_000) + 1
    var polled = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
      pollfd(fd: locks.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard unsafe poll(&polled, 3, Int32(milliseconds)) >= 0 || errno == EINTR else {
      throw Failure(.io, "cannot wait: \(Output.describe(errno))")
    }
    if let number = signals.next() { return .signal(number) }
    if polled[1].revents != 0 { return .closed }
    return polled[2].revents != 0 ? .locked : .over
  }
}

internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault approve`.
struct ApproveRequest {
  let command: ApproveCommand

  init(_ command: ApproveCommand) { self.command = command }

  func run() throws(Failure) {
    let session = try Session(command.globals)
    let request = try find(session)
    if command.session, let pid = request.pid, Self.hasEnded(pid) {
      throw Failure(
        .missing, "process \(pid), which asked, has ended, so an approval for it would give nobody anything",
        "leave --session out, or let the caller ask with --wait")
    }
    if request.missing == true { throw Failure(Fault.noSuchItem(name: request.name, unverified: nil)) }
    let hush = command.yes ? nil : Hush.onTerminal()
    defer { _ = hush }
    if !command.yes { try ask(request) }
    let approval = Vault.Approval(
      uses: command.once ? 1 : command.uses, seconds: command.seconds.map { Int(clamping: $0) },
      session: command.session ? request.pid : nil, started: command.session ? request.started : nil,
      always: command.always)
    let reply = try session.unlocking(for: "vault approve \(command.number)") { vault in
      try vault.approve(command.number, approval)
    }
    if command.globals.json {
      try Output.json(reply)
    } else if Keyboard.isAttended {
      Output.note(
        "\(Printable.whole(reply.subject)) may \(Printable.text(reply.right)) \(Printable.wholeQuoted(reply.name)) "
          + terms)
    }
  }

  /// True if there is no such process, as far as this process sees.
  private static func hasEnded(_ pid: Int) -> Bool {
    guard let pid = pid_t(exactly: pid), pid > 0 else { return false }
    return kill(pid, 0) != 0 && errno == ESRCH
  }

  private func find(_ session: Session) throws(Failure) -> Wire.Request {
    let all = try session.unlocking { vault in try vault.requests() }
    guard let found = all.first(where: { $0.number == command.number && $0.state == "pending" }) else {
      throw Failure(Fault.noSuchRequest(number: command.number))
    }
    return found
  }

  private func ask(_ request: Wire.Request) throws(Failure) {
    let what = "\(Printable.text(request.right ?? "")) \(Printable.wholeQuoted(request.name))"
    try Confirmation(
      consequence: "this would let \(Printable.whole(request.subject)) \(what)", question: "Approve it, \(terms)?",
      facts: request.sentences(STDERR_FILENO)
    ).ask()
  }

  /// The duration and the number of uses of the approval, in words.
  private var terms: String {
    let time = command.seconds.map { "for \(Seconds.format($0))" }
    if command.always { return time ?? "always" }
    if command.session {
      let uses = command.uses.map { $0 == 1 ? "once" : "\($0) times" }
      return (["for that process, until a lock", time, uses] as [String?]).compactMap { $0 }.joined(separator: ", ")
    }
    switch command.uses {
    case .some(let uses) where uses > 1: return "\(uses) times, \(time ?? "within a day")"
    case nil where !command.once && time != nil: return time ?? ""
    default: return "once, \(time ?? "within five minutes")"
    }
  }
}

internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Keeps a file right that a template gives, until a signal ends it: renders again when an item or the template has changed,
/// runs a command after each writing, and says what has become of the values when another program has written the file.
///
/// It holds the values for as long as it runs, also while the vault is locked: it looks for them in what a program writes.
final class Keeper {
  /// The signals that end it, and the command with it.
  private static let ending = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]
  /// The milliseconds that a program has to put a file in the place of one that it has removed.
  private static let absence = 1000
  private static let patience = Duration.seconds(5)

  private let request: InjectRequest
  private let output: OutputFile
  private let session: Session
  private let adopts: Bool
  private let report: KeeperReport
  private let inbox: WatchInbox
  private let files: FolderWatch
  private let command: KeptCommand
  /// What the output should be; nil before the first rendering.
  private var wanted: Wanted?
  /// What another program has written over it and was told of; nil while the output is what it should be.
  private var foreign: Foreign?
  private var isDue = true
  private var pause = RetryPause()
  /// The time of the next attempt after a failure, as ``Moment`` counts.
  private var retry: Int?

  /// A template and what it gives.
  private final class Wanted {
    let template: Template
    let rendering: Rendering

    init(_ template: consuming Template, _ rendering: consuming Rendering) {
      self.template = template
      self.rendering = rendering
    }
  }

  private final class Foreign {
    let text: SecretBuffer

    init(_ text: consuming SecretBuffer) { self.text = text }
  }

  init(
    _ request: InjectRequest, _ output: OutputFile, _ session: Session, command: String?, adopts: Bool, json: Bool
  ) throws(Failure) {
    self.request = request
    self.output = output
    self.session = session
    self.adopts = adopts
    report = KeeperReport(output: output.path, template: request.input, json: json)
    files = try FolderWatch([request.input, output.path])
    // Of all items: the template may name others later.
    let all = try WatchedItems([])
    inbox = try WatchInbox(session.vault.location, all)
    self.command = KeptCommand(command, Receipts(session.vault, all))
  }

  /// Works until a signal ends the program, or the daemon refuses to go on.
  func work() throws(Failure) {
    try begin()
    let signals = try SignalPipe(Self.ending)
    while true {
      if isDue, retry.map({ $0 <= Moment.now() }) ?? true { attempt() }
      command.start()
      wait(signals.descriptor)
      while let number = signals.next() {
        command.stop()
        signals.deliver(number)
      }
      do throws(Failure) { try take(inbox.take()) } catch {
        command.stop()
        throw error
      }
      if files.take() { look() }
      command.finish()
    }
  }

  /// The first attempt, for which a person may be asked. What waiting does not help ends the program.
  private func begin() throws(Failure) {
    do throws(Failure) {
      try renew(request)
    } catch {
      guard error.exit == .retry || error.exit == .unavailable else { throw error }
      failed(error)
    }
    session.vault.interactive = false
    (session.vault.patience, session.vault.timeout) = (.zero, Self.patience)
  }

  private func wait(_ signals: Int32) {
    var polled = [signals, inbox.descriptor, files.descriptor, command.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let next = [isDue ? retry : nil, command.retry].compactMap { $0 }.min()
    _ = unsafe poll(&polled, 4, next.map { Int32(clamping: max(0, $0 - Moment.now())) } ?? -1)
  }

  // MARK: Rendering

  private func attempt() {
    var request = request
    // Nobody is asked, and nobody waits.
    request.fetch.waitSeconds = 0
    do throws(Failure) { try renew(request) } catch { failed(error) }
  }

  private func failed(_ failure: Failure) {
    let seconds = pause.failed()
    retry = Moment.now() + seconds * 1000
    report.problem(failure)
  }

  private func renew(_ request: InjectRequest) throws(Failure) {
    // Before anything is read, so that no change is missed.
    try files.begin()
    try request.check()
    let template = try request.template()
    let rendering = try request.render(template, session)
    let next = Wanted(template, rendering)
    (isDue, retry) = (false, nil)
    pause.reset()
    report.solved()
    let isSame = wanted?.rendering.bytes.isEqual(to: next.rendering.bytes) ?? false
    wanted = next
    // No value and no template has changed then, so what a program has written stays.
    if foreign != nil, isSame { return }
    let isWritten = try output.write(next.rendering.bytes)
    if isWritten { report.wrote(next.rendering.versions) }
    command.isWanted(after: isWritten, next.rendering.versions)
    foreign = nil
  }

  private func take(_ news: consuming WatchInbox.News) throws(Failure) {
    if let error = news.end { throw Failure(error) }
    let isNamed = news.changes.take().contains { event in
      event.isOfAnything || [event.name, event.to].contains { name in name.map(concerns) ?? false }
    }
    if isNamed {
      (isDue, retry) = (true, nil)
      pause.reset()
    }
    if news.isUnlocked {
      retry = nil
      command.send()
    }
  }

  /// Every item does before the first rendering.
  private func concerns(_ name: String) -> Bool {
    guard let wanted else { return true }
    return wanted.rendering.versions.keys.contains { $0.text.utf8.elementsEqual(name.utf8) }
  }

  // MARK: Files

  /// Finds out what has become of the template and the output.
  private func look() {
    if isTemplateAnother() {
      (isDue, retry) = (true, nil)
      pause.reset()
    } else if let present = output.read() {
      lookAt(present)
    } else if !isDue {
      (isDue, retry) = (true, Moment.now() + Self.absence)
      foreign = nil
    }
  }

  private func isTemplateAnother() -> Bool {
    guard let wanted, let now = try? FileInput.readFile(request.input, limit: Template.limit) else { return false }
    return !wanted.template.source.isEqual(to: now)
  }

  private func lookAt(_ present: consuming SecretBuffer) {
    guard let wanted else { return }
    if wanted.rendering.bytes.isEqual(to: present) {
      foreign = nil
      return
    }
    if let foreign, foreign.text.isEqual(to: present) { return }
    let rewriting = present.withBytes { Rewriting(of: wanted.rendering, wanted.template, as: $0) }
    let obstacle = adopts ? adopt(present, rewriting, wanted) : nil
    report.rewritten(rewriting, wanted.template.actions, adopts: adopts, obstacle: obstacle)
    if !adopts || obstacle != nil { foreign = Foreign(present) }
  }

  /// Takes what a program has written into the template; the reason why not, if it does not.
  private func adopt(_ present: borrowing SecretBuffer, _ rewriting: Rewriting, _ wanted: Wanted) -> String? {
    do {
      let adoption = try present.withBytes { bytes throws(Adoption.Refusal) in
        try Adoption(of: rewriting, wanted.rendering, wanted.template, as: bytes)
      }
      // What somebody else has written meanwhile is not lost.
      if isTemplateAnother() { return "it has been changed itself" }
      try write(adoption.source)
      let template = try Template(adoption.source.withBytes { SecretBuffer(copying: $0) })
      let fetched = wanted.rendering.fetched.copy()
      let rendering = try Rendering(template, fetched, name: request.name)
      self.wanted = Wanted(template, rendering)
      foreign = nil
      return nil
    } catch let refusal as Adoption.Refusal {
      return refusal.reason
    } catch {
      return Failure(any: error).message
    }
  }

  /// Replaces the template; its mode and its owner stay.
  private func write(_ source: borrowing SecretBuffer) throws(Failure) {
    var status = stat()
    guard unsafe stat(request.input, &status) == 0 else {
      throw Failure(.io, "cannot look at \(Printable.text(request.input)): \(Output.describe(errno))")
    }
    let file = try NewFile(request.input, replaces: true, mode: status.st_mode & 0o777)
    if status.st_uid != geteuid() || status.st_gid != getegid() { try file.give(to: status.st_uid, status.st_gid) }
    try source.withBytes { bytes throws(Failure) in try file.write(bytes) }
    try file.finish()
  }
}

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
  private static let ending = SignalPipe.ending.filter { $0 != SIGPIPE }
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
  /// The text that the output should be; nil before the first rendering.
  private var wanted: Wanted?
  /// The text that another program has written over it and that was told of; nil while the output is what it should be.
  private var foreign: Foreign?
  /// The values that were in it before.
  private var earlier = EarlierValues()
  private var isDue = true
  private var isTemplateGone = false
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
    var first = try begin()
    // From here on, so that no signal ends it while a part of the file lies beside it.
    let signals = try SignalPipe(Self.ending)
    // It is kept for no longer than it is wanted.
    if let next = first.take() { try orLater { () throws(Failure) in try write(next) } }
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
      report.send()
    }
  }

  /// The first attempt, for which a person may be asked; nil where another one follows.
  private func begin() throws(Failure) -> Wanted? {
    let first = try orLater { () throws(Failure) in try render(request) }
    session.vault.interactive = false
    (session.vault.patience, session.vault.timeout) = (.zero, Self.patience)
    return first
  }

  /// Does a part of the first attempt. What waiting does not help ends the program.
  private func orLater<R>(_ body: () throws(Failure) -> R) throws(Failure) -> R? {
    do throws(Failure) { return try body() } catch {
      guard error.exit == .retry || error.exit == .unavailable else { throw error }
      failed(error)
      return nil
    }
  }

  private func wait(_ signals: Int32) {
    var polled = [signals, inbox.descriptor, files.descriptor, command.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    polled.append(report.polled)
    let next = [isDue ? retry : nil, command.retry].compactMap { $0 }.min()
    _ = unsafe poll(&polled, nfds_t(polled.count), next.map { Int32(clamping: max(0, $0 - Moment.now())) } ?? -1)
  }

  // MARK: Rendering

  private func attempt() {
    var request = request
    // Nobody is asked, and nobody waits.
    request.fetch.waitSeconds = 0
    do throws(Failure) { try write(render(request)) } catch { failed(error) }
  }

  private func failed(_ failure: Failure) {
    let seconds = pause.failed()
    retry = Moment.now() + seconds * 1000
    report.problem(failure)
  }

  private func render(_ request: InjectRequest) throws(Failure) -> Wanted {
    // Before anything is read, so that no change is missed.
    try files.begin()
    try request.check()
    let template = try request.template()
    let rendering = try request.render(template, session)
    return Wanted(template, rendering)
  }

  private func write(_ next: Wanted) throws(Failure) {
    let isSame = wanted?.rendering.bytes.isEqual(to: next.rendering.bytes) ?? false
    // No value and no template has changed otherwise, so what a program has written stays.
    let isToWrite = foreign == nil || !isSame
    let isWritten = isToWrite ? try output.write(next.rendering.bytes) : false
    if let wanted { keepValues(of: wanted) }
    // What it held before is gone when that is told.
    wanted = next
    (isDue, retry) = (false, nil)
    pause.reset()
    report.solved()
    guard isToWrite else { return }
    if isWritten { report.wrote(next.rendering.versions) }
    command.isWanted(after: isWritten, next.rendering.versions)
    foreign = nil
  }

  private func keepValues(of wanted: Wanted) {
    guard adopts else { return }
    for item in Set(wanted.template.actions.map(\.item)) where item.isSecret {
      wanted.rendering.fetched.withBytes(of: item) { earlier.add($0, of: item) }
    }
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
    switch templateState() {
    case .another:
      (isDue, retry) = (true, nil)
      pause.reset()
      return
    case .unreadable:
      // Whoever replaces it gets time; the next attempt then says what is wrong.
      if !isDue { (isDue, retry) = (true, Moment.now() + Self.absence) }
      isTemplateGone = true
    case .same:
      if isTemplateGone { retry = nil }
      isTemplateGone = false
    }
    if let present = output.read() {
      lookAt(present)
    } else if !isDue {
      (isDue, retry) = (true, Moment.now() + Self.absence)
      foreign = nil
    }
  }

  private enum TemplateState { case same, another, unreadable }

  private func templateState() -> TemplateState {
    guard let wanted else { return .same }
    guard let now = try? FileInput.readFile(request.input, limit: Template.limit) else { return .unreadable }
    return wanted.template.source.isEqual(to: now) ? .same : .another
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
        try Adoption(of: rewriting, wanted.rendering, wanted.template, as: bytes, earlier: earlier)
      }
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
    // What somebody else has written meanwhile is not lost.
    try file.finish { () throws(Failure) in
      guard templateState() == .same else { throw Failure(.retry, "it has been changed itself") }
    }
  }
}

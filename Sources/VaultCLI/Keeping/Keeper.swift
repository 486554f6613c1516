internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Keeps a file right that a template gives, until a signal ends it: renders again when an item or the template has changed,
/// runs a command after each writing, and says what has become of the values when another program has written the file.
/// Nothing that another program has written is lost.
///
/// It holds the values for as long as it runs, also while the vault is locked: it looks for them in what a program writes.
final class Keeper {
  /// What is done about the text of another program.
  struct Ways {
    /// Takes it into the template.
    var adopts = false
    /// Writes over what is not taken; it stays beside the file.
    var overwrites = false
  }

  /// The signals that end it, and the command with it.
  private static let ending = SignalPipe.ending.filter { $0 != SIGPIPE }
  /// The milliseconds that a program has to put a file in the place of one that it has removed or emptied.
  static let absence = 1000
  /// The shortest and the longest time until another look, in milliseconds.
  static let (firstLook, lastLook) = (50, 1000)
  private static let patience = Duration.seconds(5)

  let request: InjectRequest
  var file: KeptFile
  let session: Session
  let ways: Ways
  let report: KeeperReport
  private let inbox: WatchInbox
  let files: FolderWatch
  let command: KeptCommand
  /// The text that the output should be; nil before the first rendering.
  var wanted: Wanted?
  /// The text that it was when the keeper wrote it last, or found it right: another one than it should be while it is
  /// held. Nil until that is known.
  var base: Wanted?
  /// The text that another program has written over it and that was told of; nil while the output is the keeper's own.
  var foreign: PresentFile? {
    didSet { if foreign == nil { (adoption, awaitsAdoption, obstacle) = (nil, false, nil) } }
  }
  /// True while it is not what it should be, because another program has written it.
  var isHeld = false
  /// True when it was said that a program has changed or left out values in it.
  var hasLost = false
  /// True when the template could not take that text for a reason that passes.
  var awaitsAdoption = false
  /// The time at which it is tried again, as ``Moment`` counts.
  var adoption: Int?
  var adoptionPause = RetryPause()
  /// The reason that was told last why the template took nothing.
  var obstacle: String?
  /// The rendering that a text goes back to which was displaced while it was being written.
  var displacedBase: Wanted?
  /// The time of another look, as ``Moment`` counts: at a text that somebody may still be writing.
  var nextLook: Int?
  /// The milliseconds until it.
  var lookPause = Keeper.firstLook
  /// The names that nobody has chosen of what programs have written, as far as they were told.
  var leftovers: Set<String> = []
  /// True when a command is yet to run that an earlier keeper owed.
  private var isOwed = false
  /// True when something that was displaced lay beside it at the last look.
  var hadAside = false
  /// The number of times that its mode was set right since it was written.
  var modesRestored = 0
  /// The values that were in it before.
  var earlier = EarlierValues()
  var isDue = true
  /// True when the first rendering may be out of date unheard.
  private var isBlind = true
  var isTemplateGone = false
  var pause = RetryPause()
  /// The time of the next attempt after a failure, as ``Moment`` counts.
  var retry: Int?

  init(
    _ request: InjectRequest, _ output: OutputFile, _ session: Session, command: String?, _ ways: Ways, json: Bool
  ) throws(Failure) {
    self.request = request
    file = KeptFile(output, runs: command != nil)
    self.session = session
    self.ways = ways
    report = KeeperReport(output: output.path, template: request.input, ways, json: json)
    files = try FolderWatch([request.input, output.path, file.asidePath])
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
      if files.take() || nextLook.map({ $0 <= Moment.now() }) ?? false { look() }
      if let due = adoption, due <= Moment.now() { adoptAgain() }
      command.finish()
      // The run that an earlier keeper owed is due once the file is looked at.
      if !isOwed { file.owes(command.isOwed) }
      tellLeftovers()
      report.send()
    }
  }

  /// The first attempt, for which a person may be asked; nil where another one follows.
  private func begin() throws(Failure) -> Wanted? {
    // A folder that is not there, or a file system that does not serve, is no matter of waiting.
    try files.begin()
    try request.check()
    try file.begin()
    if ways.adopts { try NewFile.checkExchange(beside: request.input, isTemplate: true) }
    isOwed = file.isOwed
    for path in file.templateLeftovers { report.leftover(path, .template) }
    isBlind = !inbox.isListening
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
    let next = [isDue ? retry : nil, command.due, adoption, nextLook].compactMap { $0 }.min()
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

  /// Has it rendered again at once.
  func isDueNow() {
    (isDue, retry) = (true, nil)
    pause.reset()
  }

  private func render(_ request: InjectRequest) throws(Failure) -> Wanted {
    // Before anything is read, so that no change is missed.
    try files.begin()
    try request.check()
    let template = try request.template(isKept: true)
    if template.source.count == 0, mayNotBeEmpty {
      throw Failure(.retry, "\(Printable.text(request.input)) is empty")
    }
    let rendering = try request.render(template, session)
    return Wanted(template, rendering)
  }

  /// True where an empty template is one that is being written: the template before was not empty, or the output has
  /// or had content.
  private var mayNotBeEmpty: Bool {
    wanted.map { $0.template.source.count > 0 } ?? file.hasHeldText
  }

  private func write(_ next: Wanted) throws(Failure) {
    var before = (wanted, base)
    // No value and no template has changed otherwise, so what a program has written stays.
    let isToWrite = foreign == nil || !(base?.gives(next) ?? false)
    // Before it is written: whatever goes from there later is noticed.
    hadAside = file.hasAside
    // A mode that was changed unseen is no reason to write it.
    if let present = file.present(), !present.hasWriter { lookAtMode(of: present) }
    var outcome = isToWrite ? try put(next, overwrites: false) : nil
    if case .held(let present)? = outcome {
      wanted = next
      // They must not come into the template either.
      keepValues(of: next)
      // A text that is still being written is none to take; its end is told of.
      if !present.hasWriter, lookAt(present) {
        // The template is another one now, with which it goes on.
        keepValues(of: before.0)
        return isDueNow()
      }
      if ways.overwrites { outcome = try put(next, overwrites: true) }
    }
    keepValues(of: before.0)
    var last: Wanted?
    if case .written(let displaced?)? = outcome, displaced.isSudden { last = before.1 ?? before.0 }
    // What it held before is gone when that is told.
    before = (nil, nil)
    wanted = next
    session.startNone()
    if !(outcome?.isHeld ?? false) { base = next }
    (isDue, retry) = (false, nil)
    pause.reset()
    report.solved()
    switch outcome {
    case nil: stays(next)
    case .right?: isKept(next, isWritten: false)
    case .written(let displaced)?:
      isKept(next, isWritten: true, displaced)
      if let displaced, let last { adopt(displaced, last) }
    case .held?: hold(next)
    }
  }

  /// Nothing else is due than what was in the file before another program wrote it, and that program's text stays.
  private func stays(_ next: Wanted) {
    isHeld = false
    guard let foreign else { return }
    sayLost(foreign.text.withBytes { Rewriting(of: next.rendering, next.template, as: $0) }, next, mayBeNew: true)
  }

  private func put(_ next: Wanted, overwrites: Bool) throws(Failure) -> KeptFile.Outcome {
    try file.write(next.rendering.bytes, isFirst: base == nil, overwrites: overwrites) { present in
      base.map { present.holds($0.rendering.bytes) } ?? false
    }
  }

  /// The file is what it should be.
  private func isKept(_ next: Wanted, isWritten: Bool, _ displaced: KeptFile.Displaced? = nil) {
    (foreign, isHeld, hasLost) = (nil, false, false)
    if isWritten {
      modesRestored = 0
      report.wrote(next.rendering.versions)
    }
    if let displaced {
      report.displaced(to: file.asidePath, isSudden: displaced.isSudden)
      file.output.noteChange(from: displaced.file.status)
    }
    command.notice = notice
    command.isWanted(after: isWritten || isOwed, next.rendering.versions)
    isOwed = false
  }

  /// The file holds what is due, as far as it is the keeper's.
  ///
  /// - Parameter isNew: true when it held something else the last time that it was right.
  func isNoLongerHeld(isNew: Bool = false) {
    (isHeld, hasLost) = (false, false)
    command.notice = notice
    if let wanted { command.isWanted(after: isNew || isOwed, wanted.rendering.versions) }
    isOwed = false
  }

  private func hold(_ next: Wanted) {
    if !isHeld { report.held(aside: file.hasAside ? file.asidePath : nil) }
    isHeld = true
    command.notice = notice
    command.hold(reason("written"), next.rendering.versions)
  }

  func keepValues(of wanted: Wanted?) {
    guard ways.adopts, let wanted else { return }
    for item in Set(wanted.template.actions.map(\.item)) where item.isSecret {
      wanted.rendering.fetched.withBytes(of: item) { earlier.add($0, of: item) }
    }
  }

  private func take(_ news: consuming WatchInbox.News) throws(Failure) {
    if let error = news.end { throw Failure(error) }
    let isNamed = news.changes.take().contains { event in
      event.isOfAnything || [event.name, event.to].contains { name in name.map(concerns) ?? false }
    }
    if isNamed || isBlind && news.first != nil { isDueNow() }
    if news.first != nil { isBlind = false }
    if news.isUnlocked {
      retry = nil
      // A daemon that was started again knows of no file that is held.
      if command.notice != nil { command.sayAgain() }
      command.send()
      if awaitsAdoption { adoptAgain() }
    }
  }

  /// Every item does before the first rendering.
  private func concerns(_ name: String) -> Bool {
    guard let wanted else { return true }
    return wanted.rendering.versions.keys.contains { $0.text.utf8.elementsEqual(name.utf8) }
  }
}

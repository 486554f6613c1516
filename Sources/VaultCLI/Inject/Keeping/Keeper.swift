internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Keeps a file in line with its template until a signal ends it. The keeper renders again when an item or the template
/// changes, runs a command after each write, and reports the fate of the values when another program writes the file.
/// No text of another program is lost.
///
/// The keeper holds the values for as long as it runs, even while the vault is locked, because it searches for them in
/// other programs' texts.
final class Keeper {
  /// The ways to treat another program's text.
  struct Ways {
    /// Adopts the text into the template.
    var adopts = false
    /// Overwrites a text that is not adopted; the text stays beside the file.
    var overwrites = false
  }

  /// A report on another program's text.
  struct Told {
    /// The rendering that the output should have had then.
    let wanted: Wanted?
    /// The rendering from which the text was made, as far as it was known.
    let known: Wanted
    let fates: [Rewriting.Fate]
  }

  /// The signals that end the keeper and its command.
  private static let ending = SignalPipe.ending.filter { $0 != SIGPIPE }
  /// The milliseconds that a program gets to replace a file that it has removed or emptied.
  static let absence = 1000
  /// The shortest and the longest pause before another look, in milliseconds.
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
  let signals = EndingSignals()
  /// The text that the output should have; nil before the first rendering.
  var wanted: Wanted?
  /// The text that the keeper last wrote to the output or found there as it should be. It differs from the wanted text
  /// while the output is held. Nil until it is known.
  var base: Wanted?
  /// The text that another program has written over the output and that was reported; nil while the output is the
  /// keeper's own.
  var foreign: PresentFile? {
    didSet {
      if foreign == nil { (adoption, awaitsAdoption, awaitsVersions, obstacle, told) = (nil, false, false, nil, nil) }
    }
  }
  /// The last report on ``foreign``.
  var told: Told?
  /// True while the output is not as it should be, because another program has written it.
  var isHeld = false
  /// True if it was reported that a program changed or left out values of the output.
  var hasLost = false
  /// True if the template could not adopt ``foreign`` for a reason that may pass.
  var awaitsAdoption = false
  /// True if ``foreign`` may be the keeper's own text, from before its start, and the older values that would show this
  /// could not be fetched.
  var awaitsVersions = false
  /// The time of the next attempt to adopt the text, on the clock of ``Moment``.
  var adoption: Int?
  var adoptionPause = RetryPause()
  /// The reason why the template adopted nothing, as last reported.
  var obstacle: String?
  /// The rendering from which a displaced text was made, while a program is still writing that text.
  var displacedBase: Wanted?
  /// The time of another look at a text that a program may still be writing, on the clock of ``Moment``.
  var nextLook: Int?
  /// The milliseconds before that look.
  var lookPause = Keeper.firstLook
  /// The paths of files that were left under temporary names, as last reported.
  var leftovers: Set<String> = []
  /// True if the command must still run for what an earlier keeper wrote.
  var isOwed = false
  /// The time of the next ``recordOwed()``, on the clock of ``Moment``; nil unless the last one failed.
  private var owing: Int?
  private var owingPause = RetryPause()
  /// True if a displaced file lay beside the output at the last look.
  var hadAside = false
  /// The number of times that the output's mode was found changed since the last write.
  var modesRestored = 0
  /// The values that the output held before.
  var earlier = EarlierValues()
  var isDue = true
  /// True if the first rendering may have missed a change, because the keeper was not listening yet.
  private var isBlind = true
  var isTemplateGone = false
  /// The items that the template named when it was last read. Some of them may not exist yet.
  var named: [ItemName] = []
  var pause = RetryPause()
  /// The time of the next attempt after a failure, on the clock of ``Moment``.
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
    // The inbox listens to all items, because the template may name others later.
    let all = try WatchedItems([])
    inbox = try WatchInbox(session.vault.location, all)
    self.command = KeptCommand(command, Receipts(session.vault, all), signals)
  }

  /// Works until a signal ends the program or the daemon refuses to continue.
  func work() throws(Failure) {
    var first = try begin()
    // Signals are caught from here on, so that none ends the program while a part of the file lies beside it.
    let pipe = try SignalPipe(Self.ending)
    try signals.begin(pipe.descriptor)
    // The first rendering is taken out of the variable, so that it is kept no longer than it is wanted.
    if let next = first.take() { try orLater { () throws(Failure) in try write(next) } }
    while true {
      if isDue, retry.map({ $0 <= Moment.now() }) ?? true { attempt() }
      command.start()
      wait()
      do throws(Failure) { try take(inbox.take()) } catch {
        signals.stop()
        throw error
      }
      // Both checks run each time: `||` would skip the second one.
      let (isTold, isSeen) = (files.take(), files.lookIfDue())
      if isTold || isSeen || nextLook.map({ $0 <= Moment.now() }) ?? false { look() }
      if let due = adoption, due <= Moment.now() { adoptAgain() }
      command.finish()
      command.sendIfDue()
      // A run that an earlier keeper owed becomes due only after a look at the file.
      if !isOwed { recordOwed() }
      tellLeftovers()
      report.send()
    }
  }

  /// Makes the first attempt, in which a person may be asked; returns nil if another attempt must follow.
  private func begin() throws(Failure) -> Wanted? {
    // Waiting does not help against a missing folder or an unsuitable file system.
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

  /// Runs a part of the first attempt. A failure that waiting cannot cure ends the program.
  private func orLater<R>(_ body: () throws(Failure) -> R) throws(Failure) -> R? {
    do throws(Failure) { return try body() } catch {
      guard error.exit == .retry || error.exit == .unavailable || error.isOfFullDisk else { throw error }
      failed(error)
      return nil
    }
  }

  /// Records in the mark whether the command must still run. A mark that cannot be written, as on a full disk, is tried
  /// again after a pause: each try makes a file in the folder that is watched.
  private func recordOwed() {
    guard owing.map({ $0 <= Moment.now() }) ?? true else { return }
    if signals.whole({ file.owes(command.isOwed) }) {
      owing = nil
      owingPause.reset()
    } else {
      owing = Moment.now() + owingPause.failed() * 1000
    }
  }

  private func wait() {
    var polled = [inbox.descriptor, files.descriptor, command.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    polled.append(report.polled)
    let next =
      [isDue ? retry : nil, command.due, command.sendingDue, adoption, nextLook, owing].compactMap { $0 }.min()
      ?? files.nextLook
    let pause = min(next, files.nextLook) - Moment.now()
    _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: max(0, pause)))
  }

  private func take(_ news: consuming WatchInbox.News) throws(Failure) {
    if let error = news.end { throw Failure(error) }
    command.heard(news.others, upTo: news.cursor)
    // A change before the first event was not heard.
    if isBlind, news.first != nil { news.others.addAll() }
    for values in [wanted, base, told?.wanted, told?.known, displacedBase] { values?.drop(news.others) }
    command.drop(news.others)
    let isNamed = news.changes.take().contains { event in
      event.isOfAnything || [event.name, event.to].contains { name in name.map(concerns) ?? false }
    }
    if isNamed || isBlind && news.first != nil { isDueNow() }
    if news.first != nil { isBlind = false }
    if news.isUnlocked {
      retry = nil
      // A restarted daemon knows of no file that is held.
      if command.notice != nil { command.sayAgain() }
      command.send()
      if awaitsAdoption || awaitsVersions { adoptAgain() }
    }
  }

  /// Returns true if the template uses the item, or used it in the last rendering; before the first rendering, true for
  /// every item.
  func concerns(_ name: String) -> Bool {
    guard let wanted else { return true }
    func isIt(_ item: ItemName) -> Bool { item.text.utf8.elementsEqual(name.utf8) }
    return named.contains(where: isIt) || wanted.rendering.versions.keys.contains(where: isIt)
  }
}

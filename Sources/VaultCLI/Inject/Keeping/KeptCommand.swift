internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// Runs a command after each write of a file: never twice at once, once more for all writes during a run, and again
/// after a pause if it fails. Reports the outcome to the daemon for each version in the file.
final class KeptCommand {
  private let text: String?
  private let signals: EndingSignals
  private var receipts: Receipts
  private var run: WatchRun?
  private var isWanted = false
  private var pause = RetryPause()
  /// The time of the next attempt after a failure, on the clock of ``Moment``.
  private var retry: Int?
  /// The versions in the file, and the versions that were in it when the present run began.
  private var written: [ItemName: Int] = [:]
  private var told: [ItemName: Int] = [:]
  /// The problem that a person must solve; it is part of every receipt.
  var notice: String?
  /// The last receipt for versions that are missing from the file, while they are missing. The command does not run in
  /// that time.
  private var obstacle: (word: Receipts.Word, versions: [ItemName: Int])?
  /// The receipt that was sent last.
  private var last: (word: Receipts.Word, versions: [ItemName: Int], notice: String?)?

  /// - Parameter text: the command; nil if there is none, so that the write of the file alone counts.
  init(_ text: String?, _ receipts: Receipts, _ signals: EndingSignals) {
    self.text = text
    self.signals = signals
    self.receipts = receipts
  }

  /// True while the command must still run, or end well, for what was written.
  var isOwed: Bool { isWanted || descriptor >= 0 }

  /// The time at which the command must start again, on the clock of ``Moment``; nil if it waits for something else.
  var due: Int? { obstacle == nil && descriptor < 0 ? retry : nil }

  /// A descriptor that is readable once the command has ended; -1 while none runs.
  var descriptor: Int32 { run?.descriptor ?? -1 }

  /// Notes that the file is right, and which versions are in it.
  ///
  /// - Parameter isWritten: false if the file was right before.
  func isWanted(after isWritten: Bool, _ versions: [ItemName: Int]) {
    written = versions
    obstacle = nil
    if text != nil, isWritten {
      isWanted = true
      retry = nil
      pause.reset()
    } else if !isWanted, descriptor >= 0 {
      // The file has had the same text since the run began.
      told = written
    } else if !isWanted, !isSaid(.ended(.exit(0)), of: written) {
      say(.ended(.exit(0)), of: written)
    }
  }

  /// Drops the receipts for names that may have another item now, sent or not.
  ///
  /// - Parameter cursor: the place of the last event that was heard; nil if there was none since the last call.
  func heard(_ names: ChangedNames, upTo cursor: String?) {
    receipts.heard(names, upTo: cursor)
    if !names.isEmpty, let last { self.last = (last.word, last.versions.without(names), last.notice) }
  }

  /// Drops the versions of items that may have lost their names to others. The next rendering tells the versions of
  /// those.
  func drop(_ names: ChangedNames) {
    guard !names.isEmpty else { return }
    (written, told) = (written.without(names), told.without(names))
    if let obstacle { self.obstacle = (obstacle.word, obstacle.versions.without(names)) }
  }

  /// Notes that versions are missing from the file, because another program has written it.
  ///
  /// - Parameter standing: other versions, which are in the file.
  func hold(_ reason: String, _ versions: [ItemName: Int], standing: [ItemName: Int] = [:]) {
    let word = Receipts.Word.held(reason)
    let new = standing.filter { written[$0.key] != $0.value || obstacle?.versions[$0.key] != nil }
    written.merge(new) { $1 }
    if !new.isEmpty, !isOwed { say(.ended(.exit(0)), of: new) }
    obstacle = (word, versions)
    if !versions.isEmpty, !isSaid(word, of: versions) { say(word, of: versions) }
  }

  /// Returns true if the last receipt says the same, with the present notice.
  private func isSaid(_ word: Receipts.Word, of versions: [ItemName: Int]) -> Bool {
    last.map { $0.word == word && $0.versions == versions && $0.notice == notice } ?? false
  }

  /// Sends the last receipt again, with the present notice.
  func sayAgain() {
    if let last { say(last.word, of: last.versions) }
  }

  private func say(_ word: Receipts.Word, of versions: [ItemName: Int]) {
    last = (word, versions, notice)
    receipts.add(word, of: versions, notice)
  }

  /// Starts the command if it is due.
  func start() {
    guard let text, isWanted, obstacle == nil, descriptor < 0, retry.map({ $0 <= Moment.now() }) ?? true else { return }
    (isWanted, retry, told) = (false, nil, written)
    do throws(Failure) { run = try signals.start(text) } catch {
      Output.note(error.message, .none)
      end(with: nil)
    }
  }

  /// Handles the end of the command, if it has ended.
  func finish() {
    guard descriptor >= 0 else { return }
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&polled, 1, 0) > 0, let ended = run.take() else { return }
    end(with: signals.finish(ended))
  }

  private func end(with end: WatchRun.End?) {
    if end == .exit(0) {
      pause.reset()
      retry = nil
    } else {
      let seconds = pause.failed()
      // A write during the run causes a new attempt at once.
      retry = isWanted ? nil : Moment.now() + seconds * 1000
      let what = end.map { "ended with \($0.text)" } ?? "could not be started"
      let again = isWanted ? "now, because the file was written meanwhile" : "in \(seconds) s"
      Output.note("the command \(what); it runs again \(again)", .none)
      isWanted = true
    }
    guard let obstacle else { return say(.ended(end), of: told) }
    // The last receipt remains the one for the missing versions.
    let said = last
    say(.ended(end), of: told.filter { obstacle.versions[$0.key] == nil })
    last = said
  }

  /// Sends the receipts that the daemon could not take before.
  func send() { receipts.send() }

  /// The time of the next attempt to send such receipts, on the clock of ``Moment``; nil if none is due.
  var sendingDue: Int? { receipts.due }

  /// Sends such receipts if it is time to.
  func sendIfDue() { receipts.sendIfDue() }
}

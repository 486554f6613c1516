internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// The command that runs after each writing of a file: never twice at once, once more for all writings while it runs, and again
/// after a while where it fails. What comes of it is said to the daemon, for each version that is in the file.
final class KeptCommand {
  private let text: String?
  private var receipts: Receipts
  private var run: WatchRun?
  private var isWanted = false
  private var pause = RetryPause()
  /// The time of the next attempt after a failure, as ``Moment`` counts.
  private var retry: Int?
  /// The versions in the file, and those that were when the command began that runs.
  private var written: [ItemName: Int] = [:]
  private var told: [ItemName: Int] = [:]
  /// What a person is to see to, which is said with whatever is said to the daemon.
  var notice: String?
  /// The last word on versions that are not in the file, as long as they are not: the command does not run then.
  private var obstacle: (word: Receipts.Word, versions: [ItemName: Int])?
  /// What was said last.
  private var last: (word: Receipts.Word, versions: [ItemName: Int], notice: String?)?

  /// - Parameter text: nil where there is no command, and a file that is written is all.
  init(_ text: String?, _ receipts: Receipts) {
    self.text = text
    self.receipts = receipts
  }

  /// True while it is yet to run, or to end well, for what was written.
  var isOwed: Bool { isWanted || descriptor >= 0 }

  /// The time at which it is to start again, as ``Moment`` counts; nil where it waits for something else.
  var due: Int? { obstacle == nil && descriptor < 0 ? retry : nil }

  /// Readable when the command has ended; -1 while none runs.
  var descriptor: Int32 { run?.descriptor ?? -1 }

  /// Takes note of a file that is right, and of the versions in it.
  ///
  /// - Parameter isWritten: false when it was right before.
  func isWanted(after isWritten: Bool, _ versions: [ItemName: Int]) {
    written = versions
    obstacle = nil
    if text != nil, isWritten {
      isWanted = true
      retry = nil
      pause.reset()
    } else if !isWanted, descriptor < 0, !isSaid(.ended(.exit(0)), of: written) {
      say(.ended(.exit(0)), of: written)
    }
  }

  /// Takes note that versions are not in the file, which is another program's.
  ///
  /// - Parameter standing: other versions, which stand in it.
  func hold(_ reason: String, _ versions: [ItemName: Int], standing: [ItemName: Int] = [:]) {
    let word = Receipts.Word.held(reason)
    let new = standing.filter { written[$0.key] != $0.value || obstacle?.versions[$0.key] != nil }
    written.merge(new) { $1 }
    if !new.isEmpty, !isOwed { say(.ended(.exit(0)), of: new) }
    obstacle = (word, versions)
    if !isSaid(word, of: versions) { say(word, of: versions) }
  }

  /// True when that was said last, with the notice of now.
  private func isSaid(_ word: Receipts.Word, of versions: [ItemName: Int]) -> Bool {
    last.map { $0.word == word && $0.versions == versions && $0.notice == notice } ?? false
  }

  /// Says again what was said last, with the notice of now.
  func sayAgain() {
    if let last { say(last.word, of: last.versions) }
  }

  private func say(_ word: Receipts.Word, of versions: [ItemName: Int]) {
    last = (word, versions, notice)
    receipts.add(word, of: versions, notice)
  }

  /// Starts it if that is due.
  func start() {
    guard let text, isWanted, obstacle == nil, descriptor < 0, retry.map({ $0 <= Moment.now() }) ?? true else { return }
    (isWanted, retry, told) = (false, nil, written)
    do throws(Failure) { run = try WatchRun(text, []) } catch {
      Output.note(error.message, .none)
      end(with: nil)
    }
  }

  /// Takes note of its end, if it has ended.
  func finish() {
    guard descriptor >= 0 else { return }
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&polled, 1, 0) > 0, let ended = run.take() else { return }
    end(with: ended.finish())
  }

  private func end(with end: WatchRun.End?) {
    if end == .exit(0) {
      pause.reset()
      retry = nil
    } else {
      let seconds = pause.failed()
      // A writing meanwhile is an attempt of its own, at once.
      retry = isWanted ? nil : Moment.now() + seconds * 1000
      let again = isWanted ? "now, for what was written meanwhile" : "in \(seconds) s"
      Output.note("the command ended with \(end?.text ?? "no start"); it runs again \(again)", .none)
      isWanted = true
    }
    guard let obstacle else { return say(.ended(end), of: told) }
    // The last word is the one on a version that is not in the file.
    let said = last
    say(.ended(end), of: told.filter { obstacle.versions[$0.key] == nil })
    last = said
  }

  /// Says to the daemon what it could not take before.
  func send() { receipts.send() }

  /// Ends it, and all of its process group.
  func stop() { run.take()?.stop() }
}

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
  private(set) var retry: Int?
  /// The versions in the file, and those that were when the command began that runs.
  private var written: [String: Int] = [:]
  private var told: [String: Int] = [:]

  /// - Parameter text: nil where there is no command, and a file that is written is all.
  init(_ text: String?, _ receipts: Receipts) {
    self.text = text
    self.receipts = receipts
  }

  /// Readable when the command has ended; -1 while none runs.
  var descriptor: Int32 { run?.descriptor ?? -1 }

  /// Takes note of a file that is right, and of the versions in it.
  ///
  /// - Parameter isWritten: false when it was right before.
  func isWanted(after isWritten: Bool, _ versions: [ItemName: Int]) {
    written = Dictionary(uniqueKeysWithValues: versions.map { ($0.key.text, $0.value) })
    if text != nil, isWritten {
      isWanted = true
      retry = nil
      pause.reset()
    } else if !isWanted, descriptor < 0 {
      receipts.add(.exit(0), of: written)
    }
  }

  /// Starts it if that is due.
  func start() {
    guard let text, isWanted, descriptor < 0, retry.map({ $0 <= Moment.now() }) ?? true else { return }
    (isWanted, told) = (false, written)
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
    receipts.add(end, of: told)
  }

  /// Says to the daemon what it could not take before.
  func send() { receipts.send() }

  /// Ends it, and all of its process group.
  func stop() { run.take()?.stop() }
}

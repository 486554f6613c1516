internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Runs a command on each change of the watched items, until a signal ends it: never twice at once, once more for all
/// changes during a run, and again after a pause if it fails.
///
/// After a restart of the daemon anything may have changed, but the vault is locked: a command that fetches the values,
/// or ends a program that has them, would only do harm. So it is told once the values can be had.
final class Watcher {
  /// The signals that end the watcher and its command.
  private static let ending = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

  private let command: String
  private let runsAtOnce: Bool
  private let inbox: WatchInbox
  private let signals = EndingSignals()
  private var queue = WatchQueue()
  private var receipts: Receipts
  private var pause = RetryPause()
  /// The time of the next attempt after a failure, on the clock of ``Moment``; nil if none is due.
  private var retry: Int?
  private var run: WatchRun?
  /// The event that says that anything may have changed, as long as not all values can be had; nil if there is none.
  private var held: Vault.Event?
  /// The changes that the running command was told of, and the versions that they made.
  private var told: [Vault.Event] = []
  private var versions = RunVersions(began: 0)

  /// - Parameter runsAtOnce: true if the command also runs once at the start.
  init(_ command: String, _ items: WatchedItems, at vault: Vault, runsAtOnce: Bool) throws(Failure) {
    self.command = command
    self.runsAtOnce = runsAtOnce
    receipts = Receipts(vault, items)
    inbox = try WatchInbox(vault.location, items)
  }

  /// Works until a signal ends the program or the daemon refuses to continue.
  func work() throws(Failure) {
    let pipe = try SignalPipe(Self.ending)
    try signals.begin(pipe.descriptor)
    while true {
      wait()
      if Self.isReadable(inbox.descriptor) {
        do throws(Failure) { try take(inbox.take()) } catch {
          signals.stop()
          throw error
        }
      }
      finish()
      receipts.sendIfDue()
      start()
    }
  }

  /// Waits for something to do.
  private func wait() {
    var polled = [inbox.descriptor, runDescriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let isWaiting = runDescriptor < 0 && !queue.isEmpty
    let next = [isWaiting ? retry : nil, receipts.due].compactMap { $0 }.min()
    let rest = next.map { Int32(clamping: max(0, $0 - Moment.now())) }
    _ = unsafe poll(&polled, 2, rest ?? -1)
  }

  private var runDescriptor: Int32 { run?.descriptor ?? -1 }

  private static func isReadable(_ descriptor: Int32) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&polled, 1, 0) > 0
  }

  // MARK: Changes

  private func take(_ news: consuming WatchInbox.News) throws(Failure) {
    if let error = news.end { throw Failure(error) }
    versions.drop(news.others)
    receipts.heard(news.others, upTo: news.cursor)
    if runsAtOnce, var first = news.first {
      // The command learns that anything may have changed since its last run.
      first.missed = true
      hear(first)
    }
    for event in news.changes.take() { hear(event) }
    if let state = news.state { tellHeld(in: state) }
    if news.isUnlocked {
      // An attempt that failed because of the lock can succeed now.
      retry = nil
      receipts.send()
    }
  }

  private func hear(_ event: Vault.Event) {
    if event.event == "state", event.missed == true {
      held = event
    } else {
      add(event)
    }
  }

  /// Adds the event that is held, if values can be had in this state. It stays for the other values.
  private func tellHeld(in state: String) {
    guard let event = held else { return }
    switch receipts.served(in: state) {
    case .none: return
    case .some: break
    case .all: held = nil
    }
    add(event)
  }

  private func add(_ event: Vault.Event) {
    queue.add(event)
    receipts.drop(event)
    // A new change deserves an attempt at once, and the pauses begin again.
    pause.reset()
    retry = nil
  }

  // MARK: The command

  private func start() {
    guard runDescriptor < 0, !queue.isEmpty, retry.map({ $0 <= Moment.now() }) ?? true else { return }
    told = queue.take()
    // The versions are looked up before the run: the command may not have seen a later one.
    versions = receipts.versions(of: told)
    do throws(Failure) { run = try signals.start(command, told) } catch {
      Output.note(error.message, .none)
      end(with: nil)
    }
  }

  /// Handles the end of the command, if it has ended.
  private func finish() {
    guard Self.isReadable(runDescriptor), let ended = run.take() else { return }
    end(with: signals.finish(ended))
  }

  private func end(with end: WatchRun.End?) {
    if end == .exit(0) {
      pause.reset()
    } else {
      // A change during the run causes a new attempt at once.
      let isNew = !queue.isEmpty
      queue.putBack(told)
      let seconds = pause.failed()
      retry = isNew ? nil : Moment.now() + seconds * 1000
      let what = end.map { "ended with \($0.text)" } ?? "could not be started"
      let again = isNew ? "now, because of changes meanwhile" : "in \(seconds) s"
      Output.note("the command \(what); it runs again \(again)", .none)
    }
    told = []
    receipts.add(.ended(end), of: versions)
  }
}

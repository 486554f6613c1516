internal import VaultModel
internal import VaultService
internal import VaultWire

/// The watchers' notices about things that a person must see to: one for each process, for as long as the process runs.
struct WatcherNotices {
  struct Notice {
    let uid: UInt32
    let pid: Int32
    /// The unit by which grants know the process.
    let unit: String?
    /// The process; the notice ends when it does.
    let process: PeerProcess
    let text: String
    /// The time at which the process first sent this text, in Unix seconds.
    let since: Int64
  }

  /// The most notices of one uid, and of all.
  private static let mostOfUser = 16
  private static let most = 128
  /// The most characters of a text.
  private static let longest = 1000

  private var notices: [Notice] = []

  /// The notices of processes that run.
  var current: [Notice] { notices.filter(\.process.isAlive) }

  /// Replaces a process's notice.
  ///
  /// - Parameters:
  ///   - words: the process's own words; nil when there is nothing to see to.
  ///   - process: nil when the process has ended.
  mutating func set(_ words: String?, of caller: Caller, isSystem: Bool, _ process: PeerProcess?, at time: Int64) {
    if notices.isEmpty, words == nil { return }
    notices.removeAll { !$0.process.isAlive }
    let place = notices.firstIndex { $0.pid == caller.pid && $0.uid == caller.uid }
    let before = place.map { notices.remove(at: $0) }
    guard let words, let process else { return }
    let text = String(Printable.line(String(words.unicodeScalars.prefix(Self.longest))).prefix(Self.longest))
    let since = before?.text == text ? before?.since ?? time : time
    let ofUser = notices.count { $0.uid == caller.uid }
    guard !text.isEmpty, notices.count < Self.most, ofUser < Self.mostOfUser else { return }
    // The caller itself is not kept, because its memory may contain names of items, and is wiped by a lock.
    notices.append(
      Notice(
        uid: caller.uid, pid: caller.pid, unit: isSystem ? caller.unit : caller.userUnit, process: process, text: text,
        since: since))
  }
}

extension Wire.Watcher {
  init(_ notice: WatcherNotices.Notice, _ names: AccountNames) {
    self.init(
      uid: Int(notice.uid), user: names.user(notice.uid), pid: Int(notice.pid), unit: notice.unit,
      notice: notice.text, since: notice.since)
  }
}

internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The receipts that a watcher must still send to the daemon: for each item, the outcome of its last version.
struct Receipts {
  /// The outcome of a version.
  enum Word: Equatable {
    /// The command that was told of the version has ended this way; nil if it could not be started.
    case ended(WatchRun.End?)
    /// The version waits for a person, for that reason.
    case held(String)
  }

  private struct Receipt {
    let version: Int
    let word: Word
    /// The problem that a person must solve.
    let notice: String?

    var isDone: Bool { word == .ended(.exit(0)) }

    var detail: String? {
      switch word {
      case .ended(.exit(0)): nil
      case .ended(let end): end?.text ?? "not started"
      case .held(let reason): reason
      }
    }

    var isHeld: Bool {
      switch word {
      case .ended: false
      case .held: true
      }
    }
  }

  /// The most items that are looked up if any item may have changed.
  private static let most = 100
  /// The longest wait for the daemon, which has other watchers as well.
  private static let patience = Duration.seconds(5)

  private let vault: Vault
  private let items: WatchedItems
  private var unsent: [ItemName: Receipt] = [:]
  private var late = LateReceipts()
  /// The place in the daemon's events up to which all changes were heard. Later ones, of which the watcher does not
  /// know yet, are for the daemon to compare with a receipt.
  private var heard: String?
  /// The time of the next attempt to send what the daemon could not take, on the clock of ``Moment``; nil if there is
  /// nothing to send, or if only an unlock or the daemon's return can help, of which the watcher hears.
  private(set) var due: Int?
  private var pause = RetryPause()

  init(_ vault: Vault, _ items: WatchedItems) {
    var vault = vault
    (vault.interactive, vault.patience, vault.timeout) = (false, .zero, Self.patience)
    self.vault = vault
    self.items = items
  }

  /// Returns the versions that are served now of the items that changed, as far as the caller may know them.
  func versions(of events: [Vault.Event]) -> RunVersions {
    var versions = RunVersions(began: Int64(time(nil)))
    for event in events {
      if event.isOfAnything {
        let (found, obstacle) = found()
        versions.known.merge(found.mapValues(\.version)) { $1 }
        versions.isOfAny = true
        if obstacle != nil { versions.lacksSome = true }
      } else if let name = Self.name(event.to ?? event.name), event.change != "deleted" {
        versions.known[name] = event.version
        guard event.version == nil else { continue }
        do throws(ClientError) { versions.known[name] = try vault.show(name.text).version } catch {
          if Self.obstacle(error) != nil { versions.unknown.insert(name) }
        }
      }
    }
    versions.unknown.subtract(versions.known.keys)
    return versions
  }

  static func name(_ text: String?) -> ItemName? { text.flatMap { try? ItemName($0) } }

  /// Returns the watched items that the caller may find now, and what keeps it from finding others.
  private func found() -> ([ItemName: Wire.Item], Obstacle?) {
    var found: [ItemName: Wire.Item] = [:]
    var obstacle: Obstacle?
    func isOver(_ error: ClientError) -> Bool {
      obstacle = Obstacle.worse(obstacle, Self.obstacle(error))
      return !Self.isOfOne(error)
    }
    for name in items.names.compactMap(Self.name) {
      do throws(ClientError) { found[name] = try vault.show(name.text) } catch {
        if isOver(error) { return (found, obstacle) }
      }
    }
    for query in items.queries where found.count < Self.most {
      do throws(ClientError) {
        for item in try vault.find(query, limit: Self.most - found.count) {
          if let name = Self.name(item.name) { found[name] = item }
        }
      } catch {
        if isOver(error) { return (found, obstacle) }
      }
    }
    return (found, obstacle)
  }

  /// The part of the watched items whose values can be had.
  enum Served { case none, some, all }

  /// Returns the part of the watched items whose values can be had in a state of the vault. With patterns, items may
  /// match that only an unlock reveals.
  func served(in state: String) -> Served {
    if state == "unlocked" { return .all }
    let served = found().0.values.count { item in
      switch AccessClass(name: item.accessible) {
      case .always: true
      case .afterFirstUnlock: state == "locked"
      case .whenUnlocked, nil: false
      }
    }
    if served == 0 { return .none }
    return items.queries.isEmpty && served == Set(items.names).count ? .all : .some
  }

  /// Records the outcome of versions, and sends the receipts.
  ///
  /// - Parameter notice: the problem that a person must solve.
  mutating func add(_ word: Word, of versions: [ItemName: Int], _ notice: String? = nil) {
    for (name, version) in versions where unsent.count < WatchQueue.most || unsent[name] != nil {
      unsent[name] = Receipt(version: version, word: word, notice: notice)
    }
    send()
  }

  /// Records the outcome of a run, and sends the receipts. For items whose versions were not known, the receipt comes
  /// once they are.
  mutating func add(_ word: Word, of versions: RunVersions) {
    late.add(word, of: versions)
    add(word, of: versions.known)
  }

  /// Notes a change of items, which means another run with an outcome of its own.
  mutating func drop(_ event: Vault.Event) { late.drop(event) }

  /// Drops the receipts for names that may have another item now: the receipts are about the one before.
  ///
  /// - Parameter cursor: the place of the last event that was heard; nil if there was none since the last call.
  mutating func heard(_ names: ChangedNames, upTo cursor: String?) {
    unsent = unsent.without(names)
    heard = cursor ?? heard
  }

  /// Sends the receipts again if it is time to.
  mutating func sendIfDue() {
    if let due, due <= Moment.now() { send() }
  }

  /// Looks up the versions that were not known yet, and sends all receipts that the daemon accepts now. A receipt that
  /// it cannot accept now is kept for another attempt.
  mutating func send() {
    switch Obstacle.worse(lookUp(), sendAll()) {
    case .passing:
      let seconds = pause.failed()
      due = Moment.now() + seconds * 1000
    case .lock, nil:
      due = nil
      pause.reset()
    }
  }

  // MARK: Obstacles

  /// The reason why the daemon did not accept receipts, or look up an item.
  private enum Obstacle {
    /// The vault is locked, or the daemon is gone.
    case lock
    /// The daemon gave no answer in time, had too much to do, or could not write.
    case passing

    /// Returns the obstacle that needs another attempt sooner.
    static func worse(_ one: Obstacle?, _ other: Obstacle?) -> Obstacle? { one == .passing ? one : other ?? one }
  }

  /// Returns what keeps a call from succeeding now; nil if the call cannot succeed later either, because the item is
  /// gone or the caller may not watch it any more.
  private static func obstacle(_ error: ClientError) -> Obstacle? {
    switch error {
    case .fault(.locked), .noDaemon, .disconnected: .lock
    case .fault(.busy), .fault(.storageFailed): .passing
    case .fault: nil
    case .noRuntimeDirectory, .relativeRuntimeDirectory, .emptySocketPath, .foreignFolder, .impossibleSocket, .notUTF8,
      .unsafeSocket, .daemonFailed, .protocolViolation, .timedOut, .tooLarge, .answerTooLarge, .notText, .system:
      .passing
    }
  }

  /// Returns true for the daemon's answer to one call. Any other error would come for the next call, too.
  private static func isOfOne(_ error: ClientError) -> Bool { if case .fault = error { true } else { false } }

  // MARK: Attempts

  private mutating func sendAll() -> Obstacle? {
    var obstacle: Obstacle?
    for (name, receipt) in unsent {
      do throws(ClientError) {
        try vault.receipt(
          receipt.version, of: name.text, succeeded: receipt.isDone, held: receipt.isHeld, detail: receipt.detail,
          notice: receipt.notice, since: heard)
      } catch {
        let reason = Self.obstacle(error)
        obstacle = Obstacle.worse(obstacle, reason)
        guard Self.isOfOne(error) else { return obstacle }
        guard reason == nil else { continue }
      }
      unsent[name] = nil
    }
    return obstacle
  }

  /// Looks up the items whose versions were not known when their run began, and makes their receipts.
  private mutating func lookUp() -> Obstacle? {
    var obstacle: Obstacle?
    for (name, outcome) in late.named {
      do throws(ClientError) { try settle(vault.show(name.text), name, outcome) } catch {
        let reason = Self.obstacle(error)
        obstacle = Obstacle.worse(obstacle, reason)
        guard Self.isOfOne(error) else { return obstacle }
        if reason == nil { late.settle(name) }
      }
    }
    guard let outcome = late.others else { return obstacle }
    let (items, reason) = found()
    for (name, item) in items where late.concernsOthers(name) { settle(item, name, outcome) }
    if reason == nil { late.settleOthers() }
    return Obstacle.worse(obstacle, reason)
  }

  private mutating func settle(_ item: Wire.Item, _ name: ItemName, _ outcome: LateReceipts.Outcome) {
    late.settle(name)
    // A later version has a run of its own.
    guard outcome.covers(item), unsent.count < WatchQueue.most || unsent[name] != nil else { return }
    unsent[name] = Receipt(version: item.version, word: outcome.word, notice: nil)
  }
}

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
  func versions(of events: [Vault.Event]) -> [ItemName: Int] {
    var versions: [ItemName: Int] = [:]
    for event in events {
      if event.isOfAnything {
        versions.merge(found().mapValues(\.version)) { $1 }
      } else if let name = Self.name(event.to ?? event.name), event.change != "deleted" {
        versions[name] = event.version ?? current(name)
      }
    }
    return versions
  }

  private static func name(_ text: String?) -> ItemName? { text.flatMap { try? ItemName($0) } }

  private func current(_ name: ItemName) -> Int? { try? vault.show(name.text).version }

  /// Returns the watched items that the caller may find now.
  private func found() -> [ItemName: Wire.Item] {
    var found: [ItemName: Wire.Item] = [:]
    for name in items.names.compactMap(Self.name) { found[name] = try? vault.show(name.text) }
    for query in items.queries where found.count < Self.most {
      let some = try? vault.find(query, limit: Self.most - found.count)
      for item in some ?? [] { Self.name(item.name).map { found[$0] = item } }
    }
    return found
  }

  /// The part of the watched items whose values can be had.
  enum Served { case none, some, all }

  /// Returns the part of the watched items whose values can be had in a state of the vault. With patterns, items may
  /// match that only an unlock reveals.
  func served(in state: String) -> Served {
    if state == "unlocked" { return .all }
    let served = found().values.count { item in
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

  /// Sends the receipts again if it is time to.
  mutating func sendIfDue() {
    if let due, due <= Moment.now() { send() }
  }

  /// Sends all receipts that the daemon accepts now. A receipt that it cannot accept now is kept for another attempt.
  mutating func send() {
    switch sendAll() {
    case .passing:
      let seconds = pause.failed()
      due = Moment.now() + seconds * 1000
    case .lock, nil:
      due = nil
      pause.reset()
    }
  }

  /// The reason why the daemon did not accept receipts.
  private enum Obstacle {
    /// The vault is locked, or the daemon is gone.
    case lock
    /// The daemon gave no answer in time, had too much to do, or could not write.
    case passing
  }

  private mutating func sendAll() -> Obstacle? {
    var obstacle: Obstacle?
    for (name, receipt) in unsent {
      do throws(ClientError) {
        try vault.receipt(
          receipt.version, of: name.text, succeeded: receipt.isDone, held: receipt.isHeld, detail: receipt.detail,
          notice: receipt.notice)
      } catch {
        switch error {
        case .fault(.locked):
          obstacle = obstacle ?? .lock
          continue
        case .fault(.busy), .fault(.storageFailed):
          obstacle = .passing
          continue
        // The item is gone, or the caller may not watch it any more.
        case .fault: break
        case .noDaemon, .disconnected: return obstacle ?? .lock
        default: return .passing
        }
      }
      unsent[name] = nil
    }
    return obstacle
  }
}

internal import VaultClient
internal import VaultWire

/// What a watcher is yet to say to the daemon: of each item, what came of its last version.
struct Receipts {
  private struct Receipt {
    let version: Int
    let end: WatchRun.End?
  }

  /// The most items that are looked up where any may have changed.
  private static let most = 100
  /// The longest time that one waits for the daemon, which has other watchers.
  private static let patience = Duration.seconds(5)

  private let vault: Vault
  private let items: WatchedItems
  private var unsent: [String: Receipt] = [:]

  init(_ vault: Vault, _ items: WatchedItems) {
    var vault = vault
    (vault.interactive, vault.patience, vault.timeout) = (false, .zero, Self.patience)
    self.vault = vault
    self.items = items
  }

  /// The versions that are served now of the items that changed, as far as the caller may know.
  func versions(of events: [Vault.Event]) -> [String: Int] {
    var versions: [String: Int] = [:]
    for event in events {
      if event.isOfAnything {
        versions.merge(found()) { $1 }
      } else if let name = event.to ?? event.name, event.change != "deleted" {
        versions[name] = event.version ?? current(name)
      }
    }
    return versions
  }

  private func current(_ name: String) -> Int? { try? vault.show(name).version }

  private func found() -> [String: Int] {
    var found: [String: Int] = [:]
    for name in items.names { found[name] = current(name) }
    for query in items.queries where found.count < Self.most {
      let some = try? vault.find(query, limit: Self.most - found.count)
      for item in some ?? [] { found[item.name] = item.version }
    }
    return found
  }

  /// Takes note of the end of a command that was told of versions; nil where it could not be started.
  mutating func add(_ end: WatchRun.End?, of versions: [String: Int]) {
    for (name, version) in versions where unsent.count < WatchQueue.most || unsent[name] != nil {
      unsent[name] = Receipt(version: version, end: end)
    }
    send()
  }

  /// Says all that the daemon takes now. What it cannot take before it is back, or unlocked, is kept for another attempt.
  mutating func send() {
    for (name, receipt) in unsent {
      let isDone = receipt.end == .exit(0)
      do throws(ClientError) {
        try vault.receipt(
          receipt.version, of: name, succeeded: isDone, detail: isDone ? nil : receipt.end?.text ?? "not started")
      } catch {
        switch error {
        case .fault(.locked), .fault(.busy), .fault(.storageFailed): continue
        // There is no such item any more, or the caller may not watch it any more.
        case .fault: break
        default: return
        }
      }
      unsent[name] = nil
    }
  }
}

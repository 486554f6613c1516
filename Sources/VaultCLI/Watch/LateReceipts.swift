internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The versions of the items that a run of a watcher's command is about, as far as they were known when it began.
struct RunVersions {
  var known: [ItemName: Int] = [:]
  /// The items that could not be looked up, as when the daemon gave no answer in time.
  var unknown: Set<ItemName> = []
  /// True if any item may have changed.
  var isOfAny = false
  /// True if any item may have changed, and not all of them could be looked up.
  var lacksSome = false
  /// The names that may have another item since the run began. The run says nothing about that item.
  private(set) var dropped: Set<ItemName> = []
  /// The time before the lookup, in Unix seconds.
  let began: Int64

  init(began: Int64) { self.began = began }

  /// Drops the versions of items that may have lost their names to others.
  mutating func drop(_ names: ChangedNames) {
    guard !names.isEmpty else { return }
    known = known.without(names)
    unknown = unknown.filter { !names.contains($0) }
    if names.areAll { lacksSome = false }
    if lacksSome { dropped.formUnion(names.names) }
    // Too many names to tell apart.
    if dropped.count > WatchQueue.most { (lacksSome, dropped) = (false, []) }
  }
}

/// The outcomes of runs for items whose versions could not be looked up when the run began. They are looked up again
/// later. A change of the item since then means another run, which has its own outcome.
struct LateReceipts {
  struct Outcome {
    let word: Receipts.Word
    /// The time at which the run began, in Unix seconds.
    let began: Int64

    /// Returns true if the command may have seen the item's version: it was stored no later than the run began.
    func covers(_ item: Wire.Item) -> Bool { Int64(item.modified) <= began }
  }

  /// The outcomes for items whose names are known.
  private(set) var named: [ItemName: Outcome] = [:]
  /// The outcome for all other items that are watched; nil if there is none.
  private(set) var others: Outcome?
  /// The items that ``others`` is not about.
  private var apart: Set<ItemName> = []

  var isEmpty: Bool { named.isEmpty && others == nil }

  /// Returns true if ``others`` is about the item.
  func concernsOthers(_ name: ItemName) -> Bool { !apart.contains(name) }

  /// Records the outcome of a run, which replaces that of earlier runs for the same items.
  mutating func add(_ word: Receipts.Word, of versions: RunVersions) {
    let outcome = Outcome(word: word, began: versions.began)
    if versions.isOfAny {
      self = LateReceipts()
      if versions.lacksSome { others = outcome }
    }
    for name in versions.dropped { settle(name) }
    for name in versions.known.keys { settle(name) }
    for name in versions.unknown {
      settle(name)
      if named.count < WatchQueue.most { named[name] = outcome }
    }
  }

  /// Drops the outcomes for the items of a change.
  mutating func drop(_ event: Vault.Event) {
    if event.isOfAnything {
      self = LateReceipts()
    } else {
      for text in [event.name, event.to] { if let name = Receipts.name(text) { settle(name) } }
    }
  }

  /// Drops the outcome for an item.
  mutating func settle(_ name: ItemName) {
    named[name] = nil
    if others != nil, apart.count < WatchQueue.most { apart.insert(name) }
  }

  /// Drops the outcome for the items that have none of their own.
  mutating func settleOthers() { (others, apart) = (nil, []) }
}

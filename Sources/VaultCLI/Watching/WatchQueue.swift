internal import VaultClient
internal import VaultWire

/// The changes that a command is yet to be told of: of each item the last one.
struct WatchQueue {
  /// The most items that are told apart; more of them are a change of anything.
  static let most = 1024

  /// In the order of their coming.
  private var changes: [Vault.Event] = []
  /// By the bytes of the item's name; of anything, nil.
  private var places: [[UInt8]?: Int] = [:]

  var isEmpty: Bool { changes.isEmpty }

  /// Adds a change, in the place of an earlier one of the same item.
  mutating func add(_ event: Vault.Event) {
    let name = event.isOfAnything ? nil : (event.to ?? event.name).map { Array($0.utf8) }
    if let place = places[name] {
      // The first that says that something was missed says so for all.
      if event.missed == true || changes[place].missed != true { changes[place] = event }
      return
    }
    guard changes.count < Self.most || name == nil else {
      self = WatchQueue()
      return add(Vault.Event(event: "item", time: event.time, missed: true))
    }
    places[name] = changes.count
    changes.append(event)
  }

  /// All changes; none is left.
  mutating func take() -> [Vault.Event] {
    defer { self = WatchQueue() }
    return changes
  }

  /// Puts changes back before those that came after they were taken.
  mutating func putBack(_ events: [Vault.Event]) {
    let newer = take()
    for event in events + newer { add(event) }
  }
}

/// The time between a command that failed and its next attempt.
struct RetryPause {
  /// The longest one in seconds.
  static let longest = 60
  private var next = 1

  /// Counts a failure; the seconds to wait, each time twice as many.
  mutating func failed() -> Int {
    defer { next = min(2 * next, Self.longest) }
    return next
  }

  /// Begins anew.
  mutating func reset() { next = 1 }
}

internal import VaultClient
internal import VaultWire

/// The changes that a command must still be told of: the last one of each item.
struct WatchQueue {
  /// The most items that are told apart; a change of more items becomes a change of any item.
  static let most = 1024

  /// The changes in the order of their arrival.
  private var changes: [Vault.Event] = []
  /// The index of each item's change, by the bytes of the item's name; nil stands for any item.
  private var places: [[UInt8]?: Int] = [:]

  var isEmpty: Bool { changes.isEmpty }

  /// Adds a change, in the place of an earlier one of the same item.
  mutating func add(_ event: Vault.Event) {
    let name = event.isOfAnything ? nil : (event.to ?? event.name).map { Array($0.utf8) }
    if let place = places[name] {
      // An earlier change that reports missed events stays, because it covers the later ones.
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

  /// Returns all changes and empties the queue.
  mutating func take() -> [Vault.Event] {
    defer { self = WatchQueue() }
    return changes
  }

  /// Puts changes back before those that arrived after they were taken.
  mutating func putBack(_ events: [Vault.Event]) {
    let newer = take()
    for event in events + newer { add(event) }
  }
}

/// The pause between a failed attempt and the next one.
struct RetryPause {
  /// The longest pause in seconds.
  static let longest = 60
  private var next = 1

  /// Counts a failure.
  ///
  /// - Returns: the seconds to wait, each time twice as many up to ``longest``.
  mutating func failed() -> Int {
    defer { next = min(2 * next, Self.longest) }
    return next
  }

  /// Begins again with the shortest pause.
  mutating func reset() { next = 1 }
}

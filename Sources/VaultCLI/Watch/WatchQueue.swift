internal import VaultClient
internal import VaultWire

/// The changes that a command must still be told of: the last one of each name, in the order of their arrival.
///
/// A move is a change of both names. It stays until something else has happened to both, so that a name that is gone
/// is told as gone, whatever happens to the item under its new name.
struct WatchQueue {
  /// The most names that are told apart; a change of more names becomes a change of any item.
  static let most = 1024

  /// The changes by the order of their arrival, each with the number of names of which it is the last one.
  private var changes: [Int: (event: Vault.Event, names: Int)] = [:]
  /// The last change of each name, by the bytes of the name; nil stands for any item.
  private var last: [[UInt8]?: Int] = [:]
  private var next = 0

  var isEmpty: Bool { changes.isEmpty }

  /// Adds a change, and drops the earlier ones of whose names it is the last change.
  mutating func add(_ event: Vault.Event) {
    let names: Set<[UInt8]?> =
      event.isOfAnything ? [nil] : Set([event.name, event.to].compactMap { $0.map { Array($0.utf8) } })
    if event.isOfAnything {
      // An earlier change that reports missed events stays, because it covers the later ones.
      if event.missed != true, let place = last[nil], changes[place]?.event.missed == true { return }
    } else if last.count + names.count(where: { last[$0] == nil }) > Self.most {
      self = WatchQueue()
      return add(Vault.Event(event: "item", time: event.time, missed: true))
    }
    for name in names {
      if let place = last.updateValue(next, forKey: name) { release(place) }
    }
    changes[next] = (event, names.count)
    next += 1
  }

  /// Takes a name from a change, and drops the change with its last name.
  private mutating func release(_ place: Int) {
    guard let change = changes[place] else { return }
    changes[place] = change.names > 1 ? (change.event, change.names - 1) : nil
  }

  /// Returns all changes and empties the queue.
  mutating func take() -> [Vault.Event] {
    defer { self = WatchQueue() }
    return changes.sorted { $0.key < $1.key }.map(\.value.event)
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

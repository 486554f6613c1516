internal import VaultModel
internal import VaultService
internal import VaultWire

/// The last events, for watchers that continue after a connection has ended.
///
/// Each event has a place: 64 random bits, which do not reveal the number of events and mean nothing to another run of
/// the daemon. Events are kept as facts and not as text, so that no text is written that nobody reads. Whether a
/// watcher may know of an event is decided when the event is sent, and not here.
final class RecentEvents: SecretHolder {
  struct Event {
    let place: UInt64
    /// The time of the event, in Unix seconds.
    let time: Int64
    let event: VaultEvent
    fileprivate let bytes: Int

    fileprivate var hasName: Bool { if case .item = event { true } else { false } }
  }

  /// The most events, and the approximate bytes that they would take as text.
  static let (most, mostBytes) = (1024, 128 << 10)
  /// The bytes of an event as text, without its names.
  private static let plainBytes = 160

  private var events: [Event] = []
  private var bytes = 0
  /// The place before the first event that is kept.
  private var base: UInt64
  private let draw: () -> UInt64
  /// Returns true while the names of items must not wait in memory.
  var hidesNames: () -> Bool = { false }

  /// - Parameter draw: returns a random number that no other event has.
  init(in holders: SecretHolders, draw: @escaping () -> UInt64 = { .random(in: .min ... .max) }) {
    self.draw = draw
    base = draw()
    super.init(in: holders)
  }

  /// The place of the newest event.
  var newest: UInt64 { events.last?.place ?? base }

  /// Keeps an event, and returns its place.
  func add(_ event: VaultEvent, at time: Int64) -> UInt64 {
    let place = draw()
    var size = Self.plainBytes
    if case .item(let name, _, let new, _, _) = event {
      guard !hidesNames() else {
        (base, events, bytes) = (place, [], 0)
        return place
      }
      size += name.text.utf8.count + (new?.text.utf8.count ?? 0)
    }
    events.append(Event(place: place, time: time, event: event, bytes: size))
    bytes += size
    if events.count > Self.most || bytes > Self.mostBytes { shorten() }
    return place
  }

  /// Returns true when all events after a place are kept.
  func keeps(_ place: UInt64) -> Bool { place == base || events.contains { $0.place == place } }

  /// Returns the events after a place; nil when some of them may have been forgotten.
  func after(_ place: UInt64) -> ArraySlice<Event>? {
    if place == base { return events[...] }
    return events.lastIndex { $0.place == place }.map { events[($0 + 1)...] }
  }

  override func letGo(for lock: Lock) {
    guard lock.reach.contains(.names), let last = events.lastIndex(where: \.hasName) else { return }
    forget(through: last)
  }

  override func outlives(_ lock: Lock) -> Bool { lock.reach.contains(.names) && events.contains(where: \.hasName) }

  /// Forgets the oldest events. A list that kept its memory would keep short names behind its end.
  private func forget(through last: Int) {
    base = events[last].place
    events = Array(events[(last + 1)...])
    bytes = events.reduce(0) { $0 + $1.bytes }
  }

  /// Forgets the oldest quarter, so that not every new event moves all others.
  private func shorten() {
    var (gone, left) = (0, bytes)
    while gone < events.count, events.count - gone > Self.most / 4 * 3 || left > Self.mostBytes / 4 * 3 {
      left -= events[gone].bytes
      gone += 1
    }
    if gone > 0 { forget(through: gone - 1) }
  }
}

/// A place among the events as the client sees it: 16 hexadecimal digits.
enum EventCursor {
  static func text(_ place: UInt64) -> String {
    let digits = String(place, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// Reads the place; nil for a text that is not one.
  static func place(_ text: String) -> UInt64? {
    text.utf8.count == 16 && !text.utf8.contains(UInt8(ascii: "+")) ? UInt64(text, radix: 16) : nil
  }
}

extension VaultEvent {
  /// True for an event that every watcher may know: whether the vault is locked.
  var isOfState: Bool { if case .state = self { true } else { false } }

  /// Returns true if the event means that the name has lost its item, or has got one.
  func changesItem(of name: ItemName) -> Bool {
    switch self {
    case .state, .integrityFailed, .request: false
    case .item(let old, .created, _, _, _), .item(let old, .deleted, _, _, _): old == name
    case .item(let old, .moved, let new, _, _): old == name || new == name
    case .item(_, .updated, _, _, _): false
    }
  }

  /// Returns the part of an event that a watcher may know: all or nothing. If the event is a move and the watcher may
  /// know only one of its two names, the watcher may know that the item is gone or has appeared.
  func part(for mayKnow: (ItemName?) -> Bool) -> VaultEvent? {
    switch self {
    case .state: return self
    case .integrityFailed, .request: return mayKnow(nil) ? self : nil
    case .item(let name, _, let new, _, _):
      guard let new else { return mayKnow(name) ? self : nil }
      switch (mayKnow(name), mayKnow(new)) {
      case (true, true): return self
      case (true, false): return .item(name, .deleted)
      case (false, true): return .item(new, .created)
      case (false, false): return nil
      }
    }
  }
}

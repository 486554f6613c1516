internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The events that are still to be sent to watchers. They are sent in pieces, between the requests of all clients.
///
/// An event is written once for all watchers, and all get the events in the order in which they happened. The text
/// stays here until everyone who watched when the event happened has been sent it. Nobody is waited for: a watcher that
/// does not read is cut off by its own ``Watcher/send``. So the text grows only while other watchers are being served,
/// and ``isFull`` holds back calls that make more events. Whether a watcher may know of an item's event is decided when
/// the event is sent. A decision about a caller with many grants takes as long as some requests, so no more than one
/// watcher's are made at a time, and none while the vault is being locked.
final class Events: SecretHolder {
  /// The number of waiting bytes at which calls that make more events must wait.
  static let most = 256 << 10
  /// The most bytes that a watcher is sent at a time, except that at least one event is sent.
  private static let piece = 64 << 10

  /// A client that watches.
  private final class Watcher {
    let id: ObjectIdentifier
    let caller: VaultService.Caller?
    /// Returns true if the watcher may know of events of an item or, for nil, of events for administrators.
    let mayKnow: (ItemName?) -> Bool
    /// Returns true if nothing can be decided about the watcher now; then the closure is called once that is possible.
    let mustWait: (@escaping () -> Void) -> Bool
    /// Returns true if the watcher may continue; otherwise ends its call.
    let mayStay: () -> Bool
    /// Tells the watcher the present state, and that it may have missed something.
    let miss: () -> Void
    /// Takes whole messages; false when the watcher must be sent no more.
    let send: (RawSpan) -> Bool
    /// The number of the next event for the watcher.
    var next: Int
    /// True if events that waited for the watcher were wiped.
    var hasMissed = false
    /// True if the watcher's rights may have changed since ``mayStay`` was last asked.
    var isInDoubt = false
    /// True while nothing can be decided about the watcher.
    var isPutOff = false
    var isGone = false

    init(
      _ id: ObjectIdentifier, _ caller: VaultService.Caller?, from next: Int,
      mustWait: @escaping (@escaping () -> Void) -> Bool, mayKnow: @escaping (ItemName?) -> Bool,
      mayStay: @escaping () -> Bool, miss: @escaping () -> Void, _ send: @escaping (RawSpan) -> Bool
    ) {
      self.id = id
      self.caller = caller
      self.mustWait = mustWait
      self.mayKnow = mayKnow
      self.mayStay = mayStay
      self.miss = miss
      self.next = next
      self.send = send
    }

    /// True if there is something to do for the watcher when the next event has the number `end`.
    func isWaiting(until end: Int) -> Bool { !isPutOff && (next < end || hasMissed || isInDoubt) }
  }

  /// The facts about an event besides its text.
  private struct Entry {
    /// The offset of the end of its text.
    var end: Int
    /// True for an event that every watcher may know: whether the vault is locked.
    let isOfState: Bool
    /// The item of the event; nil when there is none.
    let item: ItemName?
    /// The new name of a moved item.
    let to: ItemName?
    /// The time of the event, in Unix seconds.
    let time: Int64
    let cursor: String
  }

  private let turns: Turns
  private var watchers: [ObjectIdentifier: Watcher] = [:]
  /// The watchers that must each be sent a piece before anybody is sent more.
  private var round: [Watcher] = []
  private var isSending = false
  /// The texts of the events, one after another; they contain names.
  private var text = SecretBuffer()
  private var entries: [Entry] = []
  /// The number of the first entry, counted from the daemon's start.
  private var first = 0
  /// The number of events that were written. Tests check that each event is written once, however many watch.
  private(set) var written = 0
  /// The last events, which are kept even when nobody watches.
  let recent: RecentEvents

  /// - Parameter turns: the turns in which events are sent.
  init(in turns: Turns, _ holders: SecretHolders, recent: RecentEvents? = nil) {
    self.turns = turns
    self.recent = recent ?? RecentEvents(in: holders)
    super.init(in: holders)
  }

  /// True when so many bytes wait that no more events should be added.
  var isFull: Bool { text.count >= Self.most }

  /// The number of events that wait.
  var count: Int { entries.count }

  private var end: Int { first + entries.count }

  /// Adds a watcher; `send` is called with events from now on, for as long as it returns true.
  func add(
    _ id: ObjectIdentifier, for caller: VaultService.Caller? = nil,
    mustWait: @escaping (@escaping () -> Void) -> Bool = { _ in false }, mayKnow: @escaping (ItemName?) -> Bool,
    mayStay: @escaping () -> Bool = { true }, miss: @escaping () -> Void, send: @escaping (RawSpan) -> Bool
  ) {
    watchers[id] = Watcher(
      id, caller, from: end, mustWait: mustWait, mayKnow: mayKnow, mayStay: mayStay, miss: miss, send)
  }

  /// Returns true when a watcher's caller satisfies `isMeant`.
  func isWatched(by isMeant: (VaultService.Caller) -> Bool) -> Bool {
    watchers.values.contains { $0.caller.map(isMeant) ?? false }
  }

  /// Ends the calls of watchers that may not watch anything any more, one after another, in turns.
  func reconsider() {
    for watcher in watchers.values { watcher.isInDoubt = true }
    if !watchers.isEmpty { sendOn() }
  }

  /// Removes a watcher. Events that waited only for it are wiped in the next turn, because a send may be using them
  /// now.
  func remove(_ id: ObjectIdentifier) {
    watchers.removeValue(forKey: id)?.isGone = true
    if !entries.isEmpty { sendOn() }
  }

  /// Sends an event to all watchers, later, and keeps it for watchers who come back.
  func announce(_ event: VaultEvent, at time: Int64) {
    let place = recent.add(event, at: time)
    guard !watchers.isEmpty else { return }
    var reply = Wire.MonitorReply(event, at: time)
    let cursor = EventCursor.text(place)
    reply.cursor = cursor
    var item: ItemName?
    var to: ItemName?
    if case .item(let name, _, let new, _, _) = event { (item, to) = (name, new) }
    let end = write(reply)
    entries.append(Entry(end: end, isOfState: event.isOfState, item: item, to: to, time: time, cursor: cursor))
    written += 1
    sendOn()
  }

  /// Wipes the events that wait, up to the last one with a name. A watcher that was not sent all of them is told that
  /// it may have missed something, whether or not it may know of them.
  private func hideNames() {
    guard let last = entries.lastIndex(where: { $0.item != nil }) else { return }
    let rest = first + last + 1
    for watcher in watchers.values where watcher.next < rest {
      watcher.next = rest
      watcher.hasMissed = true
    }
    forget(before: rest)
    sendOn()
  }

  override func letGo(for lock: Lock) { if lock.reach.contains(.names) { hideNames() } }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && entries.contains { $0.item != nil }
  }

  /// Appends the text of an event; returns the offset of its end.
  private func write(_ event: Wire.MonitorReply) -> Int {
    var buffer = SecretBuffer()
    swap(&buffer, &text)
    var writer = JSONWriter(appendingTo: buffer)
    writer.reply(event, continues: true)
    text = writer.take()
    return text.count
  }

  // MARK: Turns

  private func sendOn() {
    guard !isSending else { return }
    isSending = true
    turns.wait { [weak self] in self?.send() }
  }

  /// Sends a piece to the next watcher.
  private func send() {
    isSending = false
    if round.isEmpty {
      let end = end
      round = watchers.values.filter { $0.isWaiting(until: end) }
      forget(before: round.reduce(end) { min($0, $1.next) })
    }
    guard let watcher = round.popLast() else { return }
    if !watcher.isGone { serve(watcher) }
    sendOn()
  }

  private func serve(_ watcher: Watcher) {
    guard !mustWait(watcher) else { return }
    watcher.isInDoubt = false
    guard watcher.mayStay() else { return remove(watcher.id) }
    guard watcher.hasMissed else {
      if watcher.next < end { send(watcher) }
      return
    }
    // The present state covers whatever has happened by now.
    (watcher.hasMissed, watcher.next) = (false, end)
    watcher.miss()
  }

  /// Returns true if nothing can be decided about the watcher now. The watcher misses what happens meanwhile, so that
  /// nobody waits for it.
  private func mustWait(_ watcher: Watcher) -> Bool {
    watcher.isPutOff = true
    let mustWait = watcher.mustWait { [weak self, weak watcher] in
      guard let self, let watcher else { return }
      (watcher.isPutOff, watcher.hasMissed, watcher.isInDoubt, watcher.next) = (false, true, true, end)
      sendOn()
    }
    if !mustWait { watcher.isPutOff = false }
    return watcher.isPutOff
  }

  private func send(_ watcher: Watcher) {
    let place = watcher.next - first
    let start = place == 0 ? 0 : entries[place - 1].end
    // The piece ends before the first event that the watcher may not know of. If the piece begins with such an event,
    // that event is skipped, or sent in part.
    var stop = place
    while stop < entries.count, stop == place || entries[stop].end - start <= Self.piece, mayKnow(stop, watcher) {
      stop += 1
    }
    watcher.next = first + max(stop, place + 1)
    guard stop > place else { return sendPart(of: entries[place], watcher) }
    let stays = text.withBytes { watcher.send($0.extracting(start..<entries[stop - 1].end)) }
    if !stays { remove(watcher.id) }
  }

  private func mayKnow(_ place: Int, _ watcher: Watcher) -> Bool {
    let entry = entries[place]
    return entry.isOfState || watcher.mayKnow(entry.item) && (entry.to.map(watcher.mayKnow) ?? true)
  }

  /// Handles an event that the watcher may know only in part, or not at all. If the event is a move and the watcher may
  /// know one of its two names, the watcher is told that the item is gone or has appeared; otherwise nothing is sent.
  private func sendPart(of entry: Entry, _ watcher: Watcher) {
    guard let from = entry.item, let to = entry.to,
      let part = VaultEvent.item(from, .moved, to: to).part(for: watcher.mayKnow)
    else { return }
    var reply = Wire.MonitorReply(part, at: entry.time)
    reply.cursor = entry.cursor
    var writer = JSONWriter(appendingTo: SecretBuffer())
    writer.reply(reply, continues: true)
    let stays = writer.take().withBytes { watcher.send($0) }
    if !stays { remove(watcher.id) }
  }

  /// Wipes the events before this number. A list that keeps its memory would keep short names in it.
  private func forget(before number: Int) {
    let gone = number - first
    guard gone > 0 else { return }
    let length = entries[gone - 1].end
    if gone == entries.count { text.removeAll() } else { text.removeFirst(length) }
    entries = Array(entries[gone...])
    for index in entries.indices { entries[index].end -= length }
    first = number
  }
}

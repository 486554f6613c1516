internal import VaultModel
internal import VaultService
internal import VaultWire

/// The events that those who watch are still to be sent, some at a time between everybody's requests.
///
/// An event is written once, whoever watches, and all get the events in the order of their coming. What is written stays
/// here until everyone who was there when it came has been sent it. Nobody is waited for: who watches and does not read is
/// cut off by its own ``Watcher/send``. So this grows only while others are sent to, and ``isFull`` holds back the calls
/// that tell of more. Whether one may know of an item's event is decided when it is sent.
final class Events: SecretHolder {
  /// Bytes that may wait before those who make more have to.
  static let most = 256 << 10
  /// Bytes that one is sent at a time, at least one event.
  private static let piece = 64 << 10

  /// One who watches.
  private final class Watcher {
    let id: ObjectIdentifier
    let caller: VaultService.Caller?
    /// Tells whether it may know what happens to an item; for nil, what is for administrators.
    let mayKnow: (ItemName?) -> Bool
    /// True when it may go on watching; ends its call otherwise.
    let mayStay: () -> Bool
    /// Takes whole messages; false when it is to be sent no more.
    let send: (RawSpan) -> Bool
    /// The number of the event that it is to be sent next.
    var next: Int
    var isGone = false

    init(
      _ id: ObjectIdentifier, _ caller: VaultService.Caller?, from next: Int, mayKnow: @escaping (ItemName?) -> Bool,
      mayStay: @escaping () -> Bool, _ send: @escaping (RawSpan) -> Bool
    ) {
      self.id = id
      self.caller = caller
      self.mayKnow = mayKnow
      self.mayStay = mayStay
      self.next = next
      self.send = send
    }
  }

  /// The facts of an event beside its text.
  private struct Entry {
    /// The end of its text.
    var end: Int
    /// True for what everybody may know who may watch: whether the vault is locked.
    let isOfState: Bool
    /// The item that it is about; nil when it is about none, or the name was wiped.
    var item: ItemName?
    /// The new name of a moved item.
    var to: ItemName?
    /// Those who may know of it, where its names were wiped, by which that is decided otherwise.
    var known: Set<ObjectIdentifier>?
    /// The time of the event, Unix seconds.
    let time: Int64
    /// The event without names.
    let nameless: Wire.MonitorReply
  }

  private let turns: Turns
  private var watchers: [ObjectIdentifier: Watcher] = [:]
  /// The clients that are still to be sent something before anybody is sent more.
  private var round: [Watcher] = []
  private var isSending = false
  /// One behind the other; names stand in it.
  private var text = SecretBuffer()
  private var entries: [Entry] = []
  /// The number of the first entry; they are counted from the daemon's start.
  private var first = 0
  /// The number of events that were written; tests hold it to one each, whoever watches.
  private(set) var written = 0
  /// The last events, whoever watches.
  let recent: RecentEvents

  /// - Parameter turns: when to send.
  init(in turns: Turns, _ holders: SecretHolders, recent: RecentEvents? = nil) {
    self.turns = turns
    self.recent = recent ?? RecentEvents(in: holders)
    super.init(in: holders)
  }

  /// True when so much waits that no more is to be added.
  var isFull: Bool { text.count >= Self.most }

  /// The number of events that wait.
  var count: Int { entries.count }

  private var end: Int { first + entries.count }

  /// Has `send` be called with what comes from now on, for as long as it answers true.
  func add(
    _ id: ObjectIdentifier, for caller: VaultService.Caller? = nil, mayKnow: @escaping (ItemName?) -> Bool,
    mayStay: @escaping () -> Bool = { true }, send: @escaping (RawSpan) -> Bool
  ) {
    watchers[id] = Watcher(id, caller, from: end, mayKnow: mayKnow, mayStay: mayStay, send)
  }

  /// True when one of those who watch is a caller of that kind.
  func isWatched(by isMeant: (VaultService.Caller) -> Bool) -> Bool {
    watchers.values.contains { $0.caller.map(isMeant) ?? false }
  }

  /// Ends the calls of those who may not watch anything any more.
  func reconsider() {
    for watcher in Array(watchers.values) where !watcher.mayStay() { remove(watcher.id) }
  }

  /// Sends it no more. What waited for this one alone is wiped in the next turn: it may be being sent just now.
  func remove(_ id: ObjectIdentifier) {
    watchers.removeValue(forKey: id)?.isGone = true
    if !entries.isEmpty { sendOn() }
  }

  /// Sends an event to everybody who watches, later, and keeps it for those who come back.
  func announce(_ event: VaultEvent, at time: Int64) {
    let place = recent.add(event, at: time)
    guard !watchers.isEmpty else { return }
    var reply = Wire.MonitorReply(event, at: time)
    reply.cursor = EventCursor.text(place)
    var item: ItemName?
    var to: ItemName?
    if case .item(let name, _, let new, _) = event { (item, to) = (name, new) }
    var nameless = reply
    (nameless.name, nameless.to, nameless.version) = (nil, nil, nil)
    entries.append(
      Entry(end: write(reply), isOfState: event.isOfState, item: item, to: to, time: time, nameless: nameless))
    written += 1
    sendOn()
  }

  /// Wipes the names that wait. What is sent instead tells that something happened, and no more: a stream with holes would
  /// be worse.
  func hideNames() {
    text = SecretBuffer()
    // As a whole: a list that kept its memory would keep short names in it.
    entries = entries.map { entry in
      var entry = entry
      let names = [entry.item, entry.to].compactMap { $0 }
      if !names.isEmpty {
        entry.known = Set(watchers.values.filter { names.contains(where: $0.mayKnow) }.map(\.id))
      }
      (entry.item, entry.to) = (nil, nil)
      entry.end = write(entry.nameless)
      return entry
    }
  }

  override func letGo(for lock: Lock) { if lock.reach.contains(.names) { hideNames() } }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && entries.contains { $0.item != nil }
  }

  /// Adds the text of an event; where it ends.
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

  /// Sends a piece to the next one.
  private func send() {
    isSending = false
    if round.isEmpty {
      let end = end
      round = watchers.values.filter { $0.next < end }
      forget(before: round.reduce(end) { min($0, $1.next) })
    }
    guard let watcher = round.popLast() else { return }
    if !watcher.isGone { send(watcher) }
    sendOn()
  }

  private func send(_ watcher: Watcher) {
    let place = watcher.next - first
    let start = place == 0 ? 0 : entries[place - 1].end
    // Up to the first that it may not know of; that one is passed over.
    var stop = place
    while stop < entries.count, stop == place || entries[stop].end - start <= Self.piece, mayKnow(stop, watcher) {
      stop += 1
    }
    watcher.next = first + max(stop, place + 1)
    guard watcher.mayStay() else { return remove(watcher.id) }
    guard stop > place else { return sendPart(of: entries[place], watcher) }
    let stays = text.withBytes { watcher.send($0.extracting(start..<entries[stop - 1].end)) }
    if !stays { remove(watcher.id) }
  }

  private func mayKnow(_ place: Int, _ watcher: Watcher) -> Bool {
    let entry = entries[place]
    if let known = entry.known { return known.contains(watcher.id) }
    return entry.isOfState || watcher.mayKnow(entry.item) && (entry.to.map(watcher.mayKnow) ?? true)
  }

  /// Sends what somebody may know of a move from or to a name that it may not know of: that the item is gone, or there.
  private func sendPart(of entry: Entry, _ watcher: Watcher) {
    guard let from = entry.item, let to = entry.to,
      let part = VaultEvent.item(from, .moved, to: to).part(for: watcher.mayKnow)
    else { return }
    var reply = Wire.MonitorReply(part, at: entry.time)
    reply.cursor = entry.nameless.cursor
    var writer = JSONWriter(appendingTo: SecretBuffer())
    writer.reply(reply, continues: true)
    let stays = writer.take().withBytes { watcher.send($0) }
    if !stays { remove(watcher.id) }
  }

  /// Wipes what everybody was sent.
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

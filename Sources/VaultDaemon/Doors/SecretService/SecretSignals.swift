internal import VaultModel
internal import VaultService

/// Tells programs what has changed.
///
/// Object paths go to everybody who listens. The values of properties differ by caller, so they go to the programs that
/// have called here, to each as it sees them. The values always go along, because libsecret ends when it gets a change
/// without them.
final class SecretSignals {
  /// The number of items above which the list of a collection's items is told at most once in ``pause``.
  private static let many = 1000
  /// In nanoseconds.
  private static let pause: Int64 = 1_000_000_000
  /// The most lists that are told.
  private static let most = 4096

  /// The list of a collection's items, as one program sees it.
  private struct List: Hashable {
    let collection: CollectionID
    /// The unique name of the program's connection.
    let peer: String
  }

  /// A list as it was told last.
  private struct Told {
    var count = 0
    /// In `CLOCK_MONOTONIC` nanoseconds.
    var time: Int64 = 0
    /// True while it is about to be told.
    var isDue = false
  }

  private unowned let door: SecretServiceDoor
  private let timer: Timer
  /// The lists that programs have read. A program that has not read a list is not told of its changes.
  private var lists: [List: Told] = [:]
  /// True while a signal about a lock or an unlock is due.
  private var areLocksDue = false
  /// The programs to which a signal about a lock or an unlock is due.
  private var awaitingLocks: Set<ObjectIdentifier> = []
  /// The collections that programs were told of last.
  private var collections: [CollectionID] = []
  /// The collections whose items could not be listed at the last signal about a lock or an unlock.
  private var hidden: Set<CollectionID> = []

  init(_ door: SecretServiceDoor, _ timer: Timer) { (self.door, self.timer) = (door, timer) }

  /// Begins to tell of changes. Nobody was told of them while another program, or none, had the name.
  func begin() {
    collections = door.keyring.collections
    hidden = Set(collections.filter { door.keyring.hidesItems(in: $0) })
  }

  /// Has a program told of changes of a list that it reads.
  ///
  /// - Parameter count: the number of its items; nil if it is not known yet.
  func listRead(of collection: CollectionID, by peer: BusPeer, count: Int? = nil) {
    let list = List(collection: collection, peer: peer.name)
    if let count {
      lists[list]?.count = count
      lists[list]?.time = door.vault.clock.monotonic()
    }
    guard lists[list] == nil else { return }
    if lists.count >= Self.most {
      let here = Set(door.peers.peers.map(\.name))
      lists = lists.filter { here.contains($0.key.peer) }
      guard lists.count < Self.most else { return }
    }
    lists[list] = Told()
  }

  func tell(_ event: KeyringEvent) {
    guard door.isOn, door.name.state == .owned else { return }
    switch event {
    case .locks:
      // This comes before the end of the program's prompt, which waits for a turn of the same line.
      if !door.keyring.hidesItems() {
        for peer in door.peers.peers {
          let paths = door.keyring.unmatched(of: peer)
          if !paths.isEmpty { door.keyring.match(paths, of: peer.caller, in: peer.line) }
        }
      }
      // The keys are wiped before anybody is told.
      guard !areLocksDue else { return }
      areLocksDue = true
      door.turns.wait { [weak self] in self?.tellLocks() }
    case .searched(let path, let program):
      // Some programs read the attributes of the item before an unlock, and not again.
      if let peer = program as? BusPeer, peer.isRunning { itemChanged(path, for: peer) }
    case .collections: collectionsChanged()
    case .collection(let collection): changed(["Label", "Modified"], of: collection)
    case .items(let collection, let path, let change):
      let member =
        switch change {
        case .created: "ItemCreated"
        case .updated, .moved: "ItemChanged"
        case .deleted: "ItemDeleted"
        }
      tell(member, collection, path)
      switch change {
      case .created, .deleted: listChanged(of: collection)
      case .updated, .moved: toEach { [weak self] in self?.itemChanged(path, for: $0) }
      }
    }
  }

  /// Tells each program something, in its next turn.
  private func toEach(_ tell: @escaping (BusPeer) -> Void) {
    for peer in door.peers.peers { door.turns.wait(peer.line) { if peer.isRunning { tell(peer) } } }
  }

  /// Sends a signal about an item. The path of a shared item tells the item's name, so this signal goes only to
  /// programs that may learn the name, to each in its next turn.
  private func tell(_ member: String, _ collection: CollectionID, _ path: KeyringPath) {
    let (interface, at) = (SecretServiceDoor.collectionName, SecretPath.collection(collection).text)
    guard collection == .shared else { return send(member, of: interface, at: at, .item(path)) }
    toEach { [weak self] peer in
      guard let self, door.keyring.mayLearn(of: path, peer.caller) else { return }
      send(member, of: interface, at: at, .item(path), to: peer)
    }
  }

  /// Sends a signal that carries a path, to everybody or to one program.
  private func send(
    _ member: String, of interface: String, at path: String, _ object: SecretPath, to peer: BusPeer? = nil
  ) {
    try? door.bus.signal(member, of: interface, at: path, to: peer?.name) { $0.path(object.text) }
  }

  private func send(_ member: String, _ collection: CollectionID) {
    send(member, of: SecretServiceDoor.serviceName, at: SecretPath.root, .collection(collection))
  }

  // MARK: Collections

  private func collectionsChanged() {
    let (old, new) = (collections, door.keyring.collections)
    guard old != new else { return }
    collections = new
    for collection in new where !old.contains(collection) { send("CollectionCreated", collection) }
    for collection in old where !new.contains(collection) {
      send("CollectionDeleted", collection)
      lists = lists.filter { $0.key.collection != collection }
    }
    toEach { [weak self] peer in
      guard let self else { return }
      try? door.objects?.changed(["Collections"], of: door.serviceInterface, at: SecretPath.root, for: peer)
    }
  }

  private func changed(_ properties: [String], of collection: CollectionID) {
    send("CollectionChanged", collection)
    let (interface, path) = (door.collectionInterface, SecretPath.collection(collection).text)
    toEach { [weak self] in try? self?.door.objects?.changed(properties, of: interface, at: path, for: $0) }
  }

  /// Tells programs which collections are locked now, and which lists have items that could not be told before.
  private func tellLocks() {
    areLocksDue = false
    guard door.isOn, door.name.state == .owned else { return }
    for collection in door.keyring.collections { send("CollectionChanged", collection) }
    for peer in door.peers.peers where awaitingLocks.insert(ObjectIdentifier(peer)).inserted {
      door.turns.wait(peer.line) { [weak self] in
        self?.awaitingLocks.remove(ObjectIdentifier(peer))
        if peer.isRunning { self?.tellLocks(to: peer) }
      }
    }
    // While names could not be read, a list was empty.
    let before = hidden
    hidden = Set(door.keyring.collections.filter { door.keyring.hidesItems(in: $0) })
    for collection in before.subtracting(hidden) { listChanged(of: collection) }
  }

  private func tellLocks(to peer: BusPeer) {
    for collection in door.keyring.collections {
      // The property `Locked` alone needs no entry in the audit log.
      let interface = BusInterface(
        SecretServiceDoor.collectionName,
        properties: [
          .init("Locked", "b") { [keyring = door.keyring] _, peer, writer in
            writer.flag(keyring.isLocked(collection, for: peer.caller))
          }
        ])
      try? door.objects?.changed(["Locked"], of: interface, at: SecretPath.collection(collection).text, for: peer)
    }
  }

  // MARK: Items

  /// Tells a program of the properties of an item, as far as it may know them.
  private func itemChanged(_ path: KeyringPath, for peer: BusPeer) {
    guard let item = door.keyring.changedItem(path, for: peer.caller) else { return }
    let interface = BusInterface(
      SecretServiceDoor.itemName,
      properties: [
        .init("Locked", "b") { _, _, writer in writer.flag(item.isLocked) },
        .init("Attributes", "a{ss}") { _, _, writer in
          writer.pairs(item.attributes.entries.map { (key: $0.key, value: $0.value) })
        },
        .init("Label", "s") { _, _, writer in writer.string(item.label) },
        .init("Modified", "t") { _, _, writer in writer.long(UInt64(max(0, item.modified))) },
      ])
    let names = interface.properties.map(\.name)
    try? door.objects?.changed(names, of: interface, at: SecretPath.item(path).text, for: peer)
  }

  /// Has the programs that have read a list told of it: in their next turns, or later if it is long.
  private func listChanged(of collection: CollectionID) {
    guard lists.contains(where: { $0.key.collection == collection }) else { return }
    for peer in door.peers.peers {
      let list = List(collection: collection, peer: peer.name)
      guard let told = lists[list], !told.isDue else { continue }
      lists[list]?.isDue = true
      let rest = told.count > Self.many ? told.time + Self.pause - door.vault.clock.monotonic() : 0
      if rest > 0 {
        _ = timer.after(rest) { [weak self, weak peer] in if let peer { self?.tell(list, peer) } }
      } else {
        tell(list, peer)
      }
    }
  }

  private func tell(_ list: List, _ peer: BusPeer) {
    door.turns.wait(peer.line) { [weak self] in
      guard let self, peer.isRunning else { return }
      // A change after this point causes another signal.
      lists[list]?.isDue = false
      lists[list]?.time = door.vault.clock.monotonic()
      let all = KeyringAttributes()
      guard let search = try? door.keyring.search(all, in: list.collection, isAsked: false, for: peer.caller) else {
        return
      }
      door.step(search, peer) { [weak self] result in
        guard let self, let hits = try? result.get() else { return }
        lists[list]?.count = hits.count
        let interface = door.collectionInterface(with: hits.map { SecretPath.item($0.path).text })
        try? door.objects?.changed(
          ["Items"], of: interface, at: SecretPath.collection(list.collection).text, for: peer)
      }
    }
  }
}

import Testing
import VaultModel

@testable import VaultService

@Suite("The keys that the ssh-agent lists") struct SSHKeysTests {
  /// A vault, and the keys that an ssh-agent lists of it.
  private final class Stand {
    let rooms: RoomStand
    let keys: SSHKeys
    let line = Line(of: RoomStand.owner)
    /// The number of calls that waited and were told that they can list the keys.
    var told = 0

    init(_ settings: VaultSettings = VaultSettings()) throws {
      rooms = try RoomStand.unlocked(settings)
      keys = SSHKeys(rooms.items)
      let announce = rooms.vault.hooks.announce
      rooms.vault.hooks.announce = { [weak keys] event in
        announce(event)
        keys?.happened(event)
      }
    }

    func add(_ name: String) throws {
      var change = ItemChange(name: try ItemName(name), kind: .sshKey, use: .ssh)
      change.update = true
      _ = try rooms.items.set(change, .generated(.key(.ed25519)), for: rooms.administrator) { _ in true }
    }

    func move(_ name: String, to new: String) throws {
      try rooms.items.move(ItemName(name), to: ItemName(new), for: rooms.administrator)
    }

    func delete(_ name: String) throws {
      _ = try rooms.items.delete([ItemName(name)], isForGood: false, for: rooms.administrator)
    }

    func listed(by keys: SSHKeys? = nil) throws -> [String] {
      try (keys ?? self.keys).keys(for: rooms.administrator).keys.map(\.name.text)
    }

    /// The keys as a list that is read at once has them.
    func readAnew() throws -> [String] { try listed(by: SSHKeys(rooms.items)) }

    /// Runs `body` while each part of the reading ends after the first item.
    func inSteps<R>(_ body: () throws -> R) rethrows -> R {
      rooms.hands.stride.value = 10_000_000
      defer { rooms.hands.stride.value = 0 }
      return try body()
    }

    /// Asks for the list as a call does; true if it need not wait.
    func ask() -> Bool { inSteps { keys.canList(line) { [unowned self] in told += 1 } } }

    /// Runs one turn.
    func turn() { inSteps { rooms.turns.turn() } }

    /// Runs turns until the calls that wait are told, and returns their number.
    func finish() -> Int {
      var turns = 0
      while told == 0, turns < 100 {
        turn()
        turns += 1
      }
      return turns
    }
  }

  @Test("end by the newest time that the store knows, also once the clock was set back") func expired() throws {
    let stand = try RoomStand.unlocked()
    let keys = SSHKeys(stand.items)
    var change = ItemChange(name: try ItemName("key"), kind: .sshKey, use: .ssh)
    change.expires = .some(3000)
    _ = try stand.items.set(change, .generated(.key(.ed25519)), for: stand.administrator) { _ in true }
    func listed() throws -> [String] { try keys.keys(for: stand.administrator).keys.map(\.name.text) }
    stand.hands.wall.value = 2999
    #expect(try listed() == ["key"])
    stand.hands.wall.value = 3000
    #expect(try listed().isEmpty)
    try stand.set("other")
    stand.hands.wall.value = 2000
    #expect(try listed().isEmpty)
  }

  @Test("are read in turns, and once for all calls that wait") func turns() throws {
    let stand = try Stand()
    for number in 0..<10 { try stand.add("k\(number)") }
    #expect(!stand.ask() && !stand.ask())
    #expect(stand.finish() >= 8 && stand.told == 2 && stand.keys.isCurrent)
    #expect(try stand.listed() == (0..<10).map { "k\($0)" })
    #expect(stand.ask())
  }

  @Test("that change while they are read, or later, are looked up again") func changes() throws {
    let stand = try Stand()
    for number in 0..<40 { try stand.add("k\(number)") }
    #expect(!stand.ask())
    stand.turn()
    // One that is read and one that is not, of each kind of change.
    try stand.delete("k0")
    try stand.move("k1", to: "a1")
    try stand.delete("k4")
    try stand.move("k5", to: "a5")
    try stand.add("new")
    #expect(stand.finish() > 30 && stand.keys.isCurrent)
    #expect(try stand.listed() == stand.readAnew() && stand.listed().contains("new"))
    // A change of a list that was read costs no reading of the others.
    try stand.add("k2")
    try stand.rooms.set("password")
    try stand.rooms.items.undelete(ItemName("k0"), for: stand.rooms.administrator)
    #expect(!stand.keys.isCurrent)
    stand.told = 0
    #expect(!stand.ask() && stand.finish() < 10)
    #expect(try stand.listed() == stand.readAnew() && stand.listed().contains("k0"))
  }

  @Test("are those of the store, whatever changes between any two steps", arguments: 0..<4) func any(_: Int) throws {
    let stand = try Stand()
    var random = SystemRandomNumberGenerator()
    var names: Set<String> = []
    for step in 0..<60 {
      let name = "k\(Int.random(in: 0..<9, using: &random))"
      if !names.contains(name) {
        try stand.add(name)
        names.insert(name)
      } else if Bool.random(using: &random) {
        try stand.delete(name)
        names.remove(name)
      } else {
        try stand.move(name, to: "m\(step)")
        names.remove(name)
      }
      _ = stand.ask()
      for _ in 0..<Int.random(in: 0..<4, using: &random) { stand.turn() }
      if stand.keys.isCurrent { #expect(try stand.listed() == stand.readAnew()) }
    }
    while !stand.keys.isCurrent { _ = stand.ask() ? () : stand.turn() }
    #expect(try stand.listed() == stand.readAnew())
  }

  @Test("of more changes than are looked up again are read anew") func many() throws {
    let stand = try Stand()
    try stand.add("key")
    #expect(try stand.listed() == ["key"])
    for number in 0...SSHKeyList.mostChanged {
      stand.keys.happened(.item(try ItemName("other/\(number)"), .deleted))
    }
    #expect(try stand.listed() == ["key"])
  }

  @Test("of which a lock hides the names are wiped in the middle of a reading, and read anew") func locked() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try Stand(settings)
    for number in 0..<4 { try stand.add("k\(number)") }
    #expect(!stand.ask())
    stand.turn()
    #expect(stand.keys.outlives(Lock(.names, because: .asked, isEffective: true)))
    stand.rooms.vault.lock(because: .asked)
    #expect(!stand.keys.outlives(Lock(.names, because: .asked, isEffective: true)))
    // The call that waits is told, and finds out that the vault is locked.
    _ = stand.finish()
    #expect(stand.told == 1)
    let listing = try stand.keys.keys(for: stand.rooms.administrator)
    #expect(listing.keys.isEmpty && !listing.isWhole)
    try stand.rooms.unlock()
    stand.told = 0
    #expect(!stand.ask())
    #expect(stand.finish() > 1)
    #expect(try stand.listed() == (0..<4).map { "k\($0)" })
  }

  @Test("are read anew after a rekey, which may give them other rows", arguments: [false, true])
  func rekeyed(inReading: Bool) throws {
    let stand = try Stand()
    for number in 0..<6 { try stand.add("k\(number)") }
    for number in 0..<3 { try stand.delete("k\(number)") }
    if inReading {
      #expect(!stand.ask())
      stand.turn()
    } else {
      #expect(try stand.listed().count == 3)
    }
    try stand.rooms.rekey()
    try stand.add("k1")
    #expect(try stand.listed() == stand.readAnew() && stand.listed().count == 4)
  }

  @Test("are not listed without a store, and no call waits for that") func none() throws {
    let stand = try Stand()
    try stand.add("k0")
    try stand.add("k1")
    #expect(!stand.ask())
    stand.rooms.end()
    _ = stand.finish()
    #expect(stand.told == 1 && stand.ask())
  }
}

import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("A list of revoked tokens") struct TokenListTests {
  @Test(
    "is made in the class of its key, so that it can be read whenever a token is checked",
    arguments: AccessClass.allCases)
  func accessible(_ accessible: AccessClass) throws {
    let stand = try RoomStand.unlocked(system: true)
    let name = try ItemName("key")
    let change = ItemChange(name: name, use: .jwt, accessible: accessible)
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    for number in 1...2 {
      let id = String(repeating: "0", count: 31) + "\(number)"
      let (list, version) = try stand.items.revoke(.one(id), of: name, for: stand.administrator)
      #expect(version == number)
      #expect(try stand.items.item(list, for: stand.administrator).policy.accessible == accessible)
    }
  }

  // MARK: The ages of its entries

  private static let (hour, day): (Int64, Int64) = (3600, 86_400)

  /// Makes a stand with a key for tokens, `key`, and another one, `aged`, in a class that is 40 days old. The class of
  /// `key` is not, because the vault was locked in those days.
  private static func agedStand() throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    for (name, accessible) in [("key", AccessClass.whenUnlocked), ("aged", .afterFirstUnlock)] {
      let change = ItemChange(
        name: try ItemName(name), use: .jwt, attributes: ["max-ttl": "1h"], accessible: accessible)
      _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    }
    stand.vault.lock(because: .asked)
    let keychain = try stand.vault.keychain()
    for _ in 1...40 {
      stand.hands.wall.value += day
      try keychain.learn(stand.hands.wall.value, .afterFirstUnlock)
    }
    try stand.unlock()
    let now = stand.hands.wall.value
    let ages = [AccessClass.afterFirstUnlock, .whenUnlocked].map { keychain.age(of: $0, at: now) }
    try #require(ages[0] - ages[1] > 30 * day)
    return stand
  }

  private static func issue(_ stand: RoomStand) throws -> (text: [UInt8], id: String) {
    var (text, id): ([UInt8], String) = ([], "")
    let wanted = WantedToken(subject: nil, lifetime: nil, claims: nil)
    _ = try stand.items.issue(try ItemName("key"), wanted, for: stand.administrator) { token in
      (text, id) = (token.text.withBytes { $0.array }, token.id)
    }
    return (text, id)
  }

  private static func counts(_ token: [UInt8], _ stand: RoomStand) throws -> Bool {
    var isValid = false
    _ = try stand.items.verify(RoomStand.secret(token), of: try ItemName("key"), for: stand.administrator) { checked in
      if case .valid = checked { isValid = true }
    }
    return isValid
  }

  private static func revoke(_ id: String, of name: String, _ stand: RoomStand) throws {
    _ = try stand.items.revoke(.one(id), of: try ItemName(name), for: stand.administrator)
  }

  /// Revokes another token by a clock that is `hours` ahead for that moment.
  private static func revokeAhead(_ hours: Int64, of name: String, _ stand: RoomStand) throws {
    stand.hands.wall.value += hours * hour
    try revoke(String(repeating: "a", count: 32), of: name, stand)
    stand.hands.wall.value -= hours * hour
  }

  private static func list(of name: String, _ stand: RoomStand) throws -> String {
    var text = ""
    let list = try Items.revocationList(of: try ItemName(name))
    _ = try stand.items.get(list, for: stand.administrator) { _, _, value in
      text = String(decoding: value.array, as: UTF8.self)
    }
    return text
  }

  /// The ways in which entries come from one class to another.
  enum Way: CaseIterable {
    case none, keyAndList, key, list, moved, copied
  }

  /// Takes the list of `key` on that way.
  ///
  /// - Returns: the key that has the list then.
  private static func take(_ way: Way, _ stand: RoomStand) throws -> String {
    func change(_ names: [String]) throws {
      for name in names {
        let change = ItemChange(name: try ItemName(name), accessible: .afterFirstUnlock, update: true)
        _ = try stand.items.set(change, .same, for: stand.administrator) { _ in true }
      }
    }
    let (list, other) = (try ItemName("key.revoked"), try ItemName("aged.revoked"))
    switch way {
    case .none: return "key"
    case .keyAndList: try change(["key", "key.revoked"])
    case .key: try change(["key"])
    case .list: try change(["key.revoked"])
    case .moved:
      try stand.items.move(list, to: other, for: stand.administrator)
      return "aged"
    case .copied:
      _ = try stand.items.copy(list, to: other, replacing: false, evenExpired: false, for: stand.administrator)
      return "aged"
    }
    return "key"
  }

  @Test(
    "loses nothing to a jump of the clock after it has come to an older class, and is cleared in the end",
    arguments: Way.allCases)
  func olderClass(way: Way) throws {
    let stand = try Self.agedStand()
    let token = try Self.issue(stand)
    try Self.revoke(token.id, of: "key", stand)
    let name = try Self.take(way, stand)
    try Self.revokeAhead(4, of: name, stand)
    #expect(try Self.list(of: name, stand).contains(token.id))
    _ = try stand.access.repairClock(for: stand.administrator)
    // The list of the other key does not count for this token.
    if name == "key" { #expect(try !Self.counts(token.text, stand)) }
    // After the repair, another jump is like the first one.
    try Self.revoke(String(repeating: "b", count: 32), of: name, stand)
    try Self.revokeAhead(24, of: name, stand)
    #expect(try Self.list(of: name, stand).contains(token.id))
    _ = try stand.access.repairClock(for: stand.administrator)
    for _ in 1...4 {
      stand.hands.wall.value += Self.day
      try Self.revoke(String(repeating: "c", count: 32), of: name, stand)
    }
    #expect(try !Self.list(of: name, stand).contains(token.id))
  }

  @Test("gives an entry a new age if an earlier program or another vault has counted it by the age of a class")
  func positiveAge() throws {
    let stand = try Self.agedStand()
    let token = try Self.issue(stand)
    let end = stand.hands.wall.value + Self.hour
    try stand.set(
      "key.revoked", kind: .note, #"{"revoked":[{"jti":"\#(token.id)","exp":\#(end),"age":1}]}"#)
    #expect(try !Self.counts(token.text, stand))
    try Self.revokeAhead(4, of: "key", stand)
    #expect(try Self.list(of: "key", stand).contains(token.id))
    _ = try stand.access.repairClock(for: stand.administrator)
    #expect(try !Self.counts(token.text, stand))
  }
}

import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultService

/// Clocks that were ahead for a while, or that are turned back, and the effect on tokens.
@Suite("The times of tokens") struct TokenTimesTests {
  private let stand: RoomStand
  private let name: ItemName

  init() throws {
    stand = try RoomStand.unlocked(system: true)
    name = try ItemName("key")
    let change = ItemChange(
      name: name, use: .jwt, attributes: ["max-ttl": "1h"], accessible: .afterFirstUnlock)
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    stand.hands.wall.value += 100_000
  }

  private func issue(_ subject: String? = "lamp", life: Int64? = nil) throws -> [UInt8] {
    var token: [UInt8] = []
    let wanted = WantedToken(subject: subject, lifetime: life, claims: nil)
    _ = try stand.items.issue(name, wanted, for: stand.administrator) { token = $0.text.withBytes { $0.array } }
    return token
  }

  /// Returns true if a token counts here.
  private func counts(_ token: [UInt8]) throws -> Bool {
    var isValid = false
    _ = try stand.items.verify(RoomStand.secret(token), of: name, for: stand.administrator) { checked in
      if case .valid = checked { isValid = true }
    }
    return isValid
  }

  private func revoke(_ tokens: Items.RevokedTokens) throws {
    _ = try stand.items.revoke(tokens, of: name, for: stand.administrator)
  }

  /// Stores an item by a clock that is ahead for that moment.
  private func write(ahead seconds: Int64, _ accessible: AccessClass = .afterFirstUnlock) throws {
    stand.hands.wall.value += seconds
    try stand.set("written \(stand.hands.wall.value)", accessible: accessible)
    stand.hands.wall.value -= seconds
  }

  private func isRefused(_ words: String, _ body: () throws -> [UInt8]) -> Bool {
    do {
      _ = try body()
      return false
    } catch Refusal.misconfigured(let reason) {
      return reason.contains(words)
    } catch { return false }
  }

  private var list: String {
    get throws {
      var text = ""
      _ = try stand.items.get(try Items.revocationList(of: name), for: stand.administrator) { _, _, value in
        text = String(decoding: value.array, as: UTF8.self)
      }
      return text
    }
  }

  @Test("a token issued a second after a revocation counts, and none before it") func revoked() throws {
    let before = try issue()
    try revoke(.all(of: "lamp"))
    #expect(try !counts(before))
    stand.hands.wall.value += 1
    let after = try issue()
    #expect(try counts(after) && !counts(before))
  }

  @Test(
    "a revocation takes back what was made by a clock that was ahead, also after a restart", arguments: [false, true])
  func ahead(isRestarted: Bool) throws {
    stand.hands.wall.value += 60
    let token = try issue()
    stand.hands.wall.value -= 60
    if isRestarted {
      try stand.restart()
      try stand.unlock()
    }
    try revoke(.all(of: "lamp"))
    // A token issued before that time would not count, so none is issued.
    #expect(isRefused("1 min ahead of the clock") { try issue() })
    #expect(try counts(issue("other")))
    stand.hands.wall.value += 60
    #expect(try !counts(token))
    stand.hands.wall.value += 1
    #expect(try counts(issue()))
    #expect(try !counts(token))
  }

  @Test("the refusal of a token because of a revocation ahead of the clock names the command that repairs that")
  func listRepaired() throws {
    stand.hands.wall.value += 60
    _ = try issue()
    stand.hands.wall.value -= 60
    try revoke(.all(of: "lamp"))
    let advice = "if it is right, remove the entry from the item's list with `vault edit`"
    #expect(isRefused("1 min ahead of the clock: set the clock, or " + advice) { try issue() })
    // The repair of the clock alone would not help.
    _ = try stand.access.repairClock(for: stand.administrator)
    #expect(isRefused(advice) { try issue() })
    // An editor takes the subject's line out of the list.
    let rest = try list.split(separator: "\n").filter { !$0.contains("\"sub\":\"lamp\"") }.joined(separator: "\n")
    let value = Array(rest.utf8)
    let change = ItemChange(name: try Items.revocationList(of: name), update: true)
    _ = try stand.items.set(change, .bytes(count: value.count), for: stand.administrator) { bytes in
      for (index, byte) in value.enumerated() { bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
      return true
    }
    #expect(try counts(issue()))
  }

  @Test(
    "a token that was taken back does not count again after writes by a clock that was ahead",
    arguments: [7200, 864_000_000])
  func dropped(jump: Int64) throws {
    var (one, id): ([UInt8], String) = ([], "")
    let wanted = WantedToken(subject: nil, lifetime: nil, claims: nil)
    _ = try stand.items.issue(name, wanted, for: stand.administrator) { token in
      (one, id) = (token.text.withBytes { $0.array }, token.id)
    }
    try revoke(.one(id))
    for _ in 0..<3 {
      stand.hands.wall.value += jump
      try revoke(.one(String(repeating: "a", count: 32)))
      stand.hands.wall.value -= jump
      try revoke(.one(String(repeating: "b", count: 32)))
      #expect(try !counts(one))
      #expect(try list.contains(id))
    }
    // The revocation also counts after the clock was repaired.
    _ = try stand.access.repairClock(for: stand.administrator)
    #expect(try !counts(one))
    try revoke(.one(String(repeating: "c", count: 32)))
    #expect(try !counts(one) && list.contains(id))
    // The revocation is dropped in the end.
    for _ in 0..<4 {
      stand.hands.wall.value += 86_400
      try revoke(.one(String(repeating: "a", count: 32)))
    }
    #expect(try !list.contains(id))
  }

  @Test("a token that was made by a clock ahead stays in the list until it has ended by that clock") func listedAhead()
    throws
  {
    let day: Int64 = 86_400
    let change = ItemChange(name: name, attributes: ["max-ttl": "30d"], update: true)
    _ = try stand.items.set(change, .same, for: stand.administrator) { _ in true }
    stand.hands.wall.value += 20 * day
    var (token, id): ([UInt8], String) = ([], "")
    let wanted = WantedToken(subject: nil, lifetime: 30 * day, claims: nil)
    _ = try stand.items.issue(name, wanted, for: stand.administrator) { made in
      (token, id) = (made.text.withBytes { $0.array }, made.id)
    }
    stand.hands.wall.value -= 20 * day
    try revoke(.one(id))
    for _ in 0..<45 {
      stand.hands.wall.value += day
      try revoke(.one(String(repeating: "a", count: 32)))
    }
    #expect(try list.contains(id) && !counts(token))
  }

  @Test(
    "all tokens of a subject are taken back up to the time that any class knows, and no more than a day ahead",
    arguments: [(3600, 3600), (864_000, 86_400)])
  func otherClass(ahead: Int64, revoked: Int64) throws {
    let made = stand.hands.wall.value
    try stand.restart()
    // This happens for a token that was made cold, by a clock that was ahead, while the item was of that class.
    try #require(stand.vault.openKeychain).learn(made + ahead, .always)
    try stand.unlock()
    #expect(try stand.vault.keychain().newestTime(of: .afterFirstUnlock, at: made) < made + ahead)
    try revoke(.all(of: "lamp"))
    #expect(try list.contains("\"before\":\(made + revoked),"))
  }

  @Test("a token ends by the newest time that the store knows, and none is made that would have ended") func expired()
    throws
  {
    let short = try issue(life: 600)
    let long = try issue(life: 3600)
    try write(ahead: 1200)
    #expect(try !counts(short) && counts(long))
    #expect(isRefused("vault clock repair") { try issue(life: 1200) })
    #expect(try counts(issue(life: 1201)))
    try write(ahead: 864_000_000)
    #expect(isRefused("vault clock repair") { try issue() })
    #expect(isRefused("vault clock repair") { try issue(nil) })
    let (newest, clock) = try stand.access.repairClock(for: stand.administrator)
    #expect(newest == clock + 864_000_000 && clock == stand.hands.wall.value)
    #expect(try counts(issue()) && counts(short))
    try stand.restart()
    try stand.unlock()
    #expect(try counts(issue()) && stand.vault.newestTime == clock)
  }

  @Test("the time that another class knows does not end it") func otherClass() throws {
    stand.vault.lock(because: .asked)
    let token = try issue()
    #expect(try counts(token))
    try stand.unlock()
    try write(ahead: 50, .always)
    #expect(try counts(issue(life: 20)))
  }

  @Test("a key that was replaced counts until its tokens have ended by the newest time, however the clock is turned")
  func rotated() throws {
    let token = try issue()
    func rotate() throws {
      let change = ItemChange(name: name, update: true)
      _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    }
    try rotate()
    #expect(try counts(token))
    func replaced() throws -> [Int] {
      let item = try stand.items.item(name)
      let newest = try stand.vault.keychain().newestTime(of: .afterFirstUnlock, at: stand.hands.wall.value)
      return Items.replacedVersions(of: item, newest)
    }
    #expect(try replaced() == [1])
    try write(ahead: 3601)
    #expect(try replaced() == [] && !counts(token))
    // A key that was replaced by a clock that was ahead is of no use once the clock is repaired.
    stand.hands.wall.value += 36_000
    try rotate()
    stand.hands.wall.value -= 36_000
    _ = try stand.access.repairClock(for: stand.administrator)
    #expect(try replaced() == [1])
    #expect(try counts(issue()))
    // It would count again when its time comes, but for another replacement by the right clock.
    try rotate()
    #expect(try replaced() == [3, 2, 1])
    stand.hands.wall.value += 36_001
    #expect(try replaced() == [])
  }

  @Test("a token that would no longer count once it has its signature is refused, to be asked for again")
  func awaited() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let made = try sandbox.run(
      ["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], program: "/usr/bin/openssl")
    let text = Array(made.output.utf8)
    let large = try ItemName("large")
    let change = ItemChange(name: large, kind: .blob, use: .jwt, attributes: ["max-ttl": "1h"])
    _ = try stand.items.set(change, .bytes(count: text.count), for: stand.administrator) { bytes in
      for (index, byte) in text.enumerated() { bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
      return true
    }
    var issued = 0
    func issue(_ order: RSAOrder) throws -> Wait? {
      let wanted = WantedToken(subject: "lamp", lifetime: 10, claims: nil)
      return try stand.items.issue(Reading(large, for: stand.administrator), wanted, order) { _ in issued += 1 }
    }
    /// Begins a call, and lets its signature be made while this is done and so many seconds pass.
    func order(_ seconds: Int64, _ body: () throws -> Void = {}) throws -> RSAOrder {
      let order = stand.items.rsaOrder(for: stand.administrator)
      #expect(try issue(order) != nil)
      stand.hands.wall.value += seconds
      try body()
      stand.rsa.answer()
      return order
    }
    let revoked = try order(2) { _ = try stand.items.revoke(.all(of: "lamp"), of: large, for: stand.administrator) }
    #expect(throws: Refusal.interrupted("the tokens of that subject were revoked meanwhile")) { _ = try issue(revoked) }
    stand.hands.wall.value += 1
    // A revocation in the very second in which the call began covers its token.
    let atOnce = try order(0) {
      _ = try stand.items.revoke(.all(of: "lamp"), of: large, for: stand.administrator)
      stand.hands.wall.value += 2
    }
    #expect(throws: Refusal.interrupted("the tokens of that subject were revoked meanwhile")) { _ = try issue(atOnce) }
    let expired = try order(10)
    #expect(throws: Refusal.interrupted("the token has expired meanwhile")) { _ = try issue(expired) }
    #expect(issued == 0)
    let again = try order(9)
    #expect(try issue(again) == nil && issued == 1)
    // A token that is handed out in the second of a revocation is not refused: its check finds it revoked.
    let same = try order(0) { _ = try stand.items.revoke(.all(of: "lamp"), of: large, for: stand.administrator) }
    #expect(try issue(same) == nil && issued == 2)
  }

  @Test("the store learns of the time of a token before it is handed out, once in a second") func learned() throws {
    let keychain = try stand.vault.keychain()
    let now = stand.hands.wall.value
    #expect(keychain.newestTime(of: .afterFirstUnlock, at: 0) < now)
    _ = try issue()
    #expect(keychain.newestTime(of: .afterFirstUnlock, at: 0) == now)
    // The store learns of the time once per second.
    let generation = keychain.generation
    for _ in 0..<9 { _ = try issue() }
    #expect(keychain.generation == generation)
  }

  @Test("the clock is repaired by administrators, while the vault is unlocked, in a user's with presence")
  func repaired() throws {
    try write(ahead: 5000)
    #expect(throws: Refusal.self) { _ = try stand.access.repairClock(for: RoomStand.caller(990)) }
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.self) { _ = try stand.access.repairClock(for: stand.administrator) }
    try stand.unlock()
    #expect(stand.vault.newestTime == stand.hands.wall.value + 5000)
    _ = try stand.access.repairClock(for: stand.administrator)
    #expect(stand.vault.newestTime == stand.hands.wall.value)
    #expect(try stand.vault.keychain().verify().isOK)
    // In a user's vault, the repair requires presence.
    let own = try RoomStand.unlocked()
    #expect(throws: Refusal.self) { _ = try own.access.repairClock(for: own.administrator) }
  }
}

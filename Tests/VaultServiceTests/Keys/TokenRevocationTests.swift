import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Tokens are taken back") struct TokenRevocationTests {
  private static let denied = Refusal.denied("you may not do this")

  /// Makes a stand with a key for tokens, `key`, and a key for another use, `other`.
  private static func stand() throws -> RoomStand {
    let stand = try RoomStand.unlocked(system: true)
    for (name, use) in [("key", KeyUse.jwt), ("other", .mac)] {
      let change = ItemChange(name: try ItemName(name), use: use)
      _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    }
    return stand
  }

  private static func give(_ stand: RoomStand, _ uid: UInt32, _ pattern: String, _ rights: String) throws {
    _ = try stand.access.give(
      try Subject(parsing: "user:\(uid)"), try ItemPattern(pattern), try Rights(parsing: rights), until: nil,
      for: stand.administrator)
  }

  private static func id(_ number: Int) -> String { String(repeating: "0", count: 31) + "\(number)" }

  private static func revoke(_ stand: RoomStand, _ name: String, _ number: Int = 1, by uid: UInt32) throws -> Int {
    try stand.items.revoke(.one(id(number)), of: try ItemName(name), for: RoomStand.caller(uid)).version
  }

  @Test("by who may set the list and no more, as often as there are tokens") func often() throws {
    let stand = try Self.stand()
    try Self.give(stand, 990, "key", "find")
    try Self.give(stand, 990, "key.revoked", "set")
    for version in 1...3 { #expect(try Self.revoke(stand, "key", version, by: 990) == version) }
    #expect(try stand.items.item(try ItemName("key.revoked"), for: stand.administrator).kind == .note)
  }

  @Test("by themselves once the key that made them was replaced for as long as they could be good") func replaced()
    throws
  {
    let stand = try RoomStand.unlocked()
    let name = try ItemName("tokens")
    func set(update: Bool) throws {
      var change = ItemChange(name: name, use: update ? nil : .jwt, update: update)
      if !update { change.attributes = ["max-ttl": "1h"] }
      _ = try stand.items.set(change, .generated(.key(.ed25519)), for: RoomStand.caller()) { _ in true }
    }
    func keys() throws -> Int {
      try stand.items.publicKey(name, .jwks, for: RoomStand.caller()).text.components(separatedBy: "\"kid\"").count - 1
    }
    func check(_ token: String) throws -> CheckedToken? {
      var checked: CheckedToken?
      _ = try stand.items.verify(RoomStand.secret(Array(token.utf8)), of: name, for: RoomStand.caller()) {
        checked = $0
      }
      return checked
    }
    try set(update: false)
    #expect(try keys() == 1)
    stand.hands.wall.value = 3000
    var token = ""
    let wanted = WantedToken(subject: "lamp", lifetime: nil, claims: nil)
    _ = try stand.items.issue(name, wanted, for: RoomStand.caller()) { made in
      token = made.text.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
    }
    try set(update: true)
    let item = try stand.items.item(name, for: RoomStand.caller())
    #expect(Items.replacedVersions(of: item, 6599) == [1] && Items.replacedVersions(of: item, 6600).isEmpty)
    #expect(try keys() == 2)
    guard case .valid = try check(token) else { throw RequestStand.RequestStandError() }
    // The token is revoked by its subject only.
    _ = try stand.items.revoke(.all(of: "lamp"), of: name, for: RoomStand.caller())
    guard case .fault = try check(token) else { throw RequestStand.RequestStandError() }
    stand.hands.wall.value = 6600
    #expect(try keys() == 1)
  }

  /// Issues a token of `key` for the subject `lamp`.
  static func token(_ stand: RoomStand, of name: String = "key") throws -> String {
    var token = ""
    let wanted = WantedToken(subject: "lamp", lifetime: nil, claims: nil)
    _ = try stand.items.issue(try ItemName(name), wanted, for: stand.administrator) { made in
      token = made.text.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
    }
    return token
  }

  static func isValid(_ token: String, of name: String = "key", _ stand: RoomStand) throws -> Bool {
    var isValid = false
    let text = RoomStand.secret(Array(token.utf8))
    _ = try stand.items.verify(text, of: try ItemName(name), for: stand.administrator) {
      if case .valid = $0 { isValid = true }
    }
    return isValid
  }

  @Test("by a list that is read once for each of its values, whatever else is stored, and after a lock anew")
  func readOnce() throws {
    let stand = try Self.stand()
    let known = stand.items.known
    let token = try Self.token(stand)
    #expect(try Self.isValid(token, stand) && known.made == 0)
    // A list that is written here is already known.
    for number in 1...2 { _ = try Self.revoke(stand, "key", number, by: 0) }
    #expect(try Self.isValid(token, stand) && known.made == 0)
    for value in [#"{"revoked":[]}"#, #"{"revoked":[{"jti":"three","exp":9}]}"#, "no list"] {
      let bytes = Array(value.utf8)
      let before = known.made
      let change = ItemChange(name: try ItemName("key.revoked"), update: true)
      // The store itself takes what is no list, too.
      try stand.vault.keychain().set(change, value: RoomStand.secret(bytes), now: 2000)
      for other in ["a", "b"] {
        if value == "no list" {
          #expect(throws: Refusal.self) { try Self.isValid(token, stand) }
        } else {
          #expect(try Self.isValid(token, stand))
        }
        _ = try Self.token(stand)
        try stand.set("\(other) \(before)")
      }
      #expect(known.made == before + 1, "\(value)")
    }
    let before = known.made
    let lock = Lock(.whenUnlocked, because: .asked, isEffective: true)
    #expect(known.outlives(lock))
    stand.vault.lock(because: .asked)
    #expect(!known.outlives(lock))
    try stand.unlock()
    #expect(throws: Refusal.self) { try Self.isValid(token, stand) }
    #expect(known.made == before + 1)
    // A list that was deleted and made again is a different list.
    _ = try stand.items.delete([try ItemName("key.revoked")], isForGood: true, for: stand.administrator)
    #expect(try Self.isValid(token, stand))
    _ = try stand.items.revoke(.all(of: "lamp"), of: try ItemName("key"), for: stand.administrator)
    #expect(try !Self.isValid(token, stand))
  }

  @Test("while the public halves of keys that were replaced are computed once, and after a lock anew") func halves()
    throws
  {
    let stand = try RoomStand.unlocked()
    let known = stand.items.known
    var tokens: [String] = []
    for version in 1...3 {
      var change = ItemChange(name: try ItemName("key"), use: version == 1 ? .jwt : nil, update: version > 1)
      if version == 1 { change.attributes = ["max-ttl": "1h"] }
      _ = try stand.items.set(change, .generated(.key(.p256)), for: stand.administrator) { _ in true }
      tokens.append(try Self.token(stand))
    }
    func keys() throws -> Int {
      let told = try stand.items.publicKey(try ItemName("key"), .jwks, for: stand.administrator)
      return told.text.components(separatedBy: "\"kid\"").count - 1
    }
    for _ in 1...2 {
      #expect(try keys() == 3)
      for token in tokens { #expect(try Self.isValid(token, stand)) }
    }
    #expect(known.made == 2)
    stand.vault.lock(because: .asked)
    try stand.unlock()
    for token in tokens { #expect(try Self.isValid(token, stand)) }
    #expect(try keys() == 3 && known.made == 4)
  }

  @Test("on a list that stays of the kind that it is") func kind() throws {
    let stand = try Self.stand()
    try stand.set("key.revoked", kind: .blob, #"{"revoked":[]}"#)
    #expect(try Self.revoke(stand, "key", by: 0) == 2)
    #expect(try stand.items.item(try ItemName("key.revoked"), for: stand.administrator).kind == .blob)
  }

  @Test("by nobody who has no right to the item, who learns nothing of it") func strangers() throws {
    let stand = try Self.stand()
    for name in ["key", "other", "none"] {
      for uid in [990, 991] as [UInt32] { try Self.give(stand, uid, name + ".revoked", "set") }
      // The right to leave a value tells nothing either.
      try Self.give(stand, 991, name, "deposit")
    }
    for name in ["key", "other", "none"] {
      for uid in [990, 991] as [UInt32] {
        #expect(throws: Self.denied, "\(name)") { try Self.revoke(stand, name, by: uid) }
      }
    }
    #expect(throws: Refusal.noSuchItem("key.revoked", isVerified: true)) {
      try stand.items.item(try ItemName("key.revoked"), for: stand.administrator)
    }
  }

  @Test("by who has any right to the item, and is told what is wrong with it") func knowing() throws {
    let stand = try Self.stand()
    for (place, right) in ["use", "get", "find", "set", "watch", "admin"].enumerated() {
      let uid = 1001 + UInt32(place)
      for name in ["key", "other", "none"] {
        try Self.give(stand, uid, name, right)
        // The right to the revocation list is a separate one.
        #expect(throws: Self.denied, "\(name) \(right)") { try Self.revoke(stand, name, by: uid) }
        try Self.give(stand, uid, name + ".revoked", "set")
      }
      #expect(try Self.revoke(stand, "key", place, by: uid) == place + 1, "\(right)")
      #expect(throws: Refusal.wrongUse("other", use: .mac), "\(right)") { try Self.revoke(stand, "other", by: uid) }
      #expect(throws: Refusal.noSuchItem("none", isVerified: true), "\(right)") {
        try Self.revoke(stand, "none", by: uid)
      }
    }
  }

  private static func bytes(_ text: String, into out: inout MutableRawSpan) -> Bool {
    for (index, byte) in text.utf8.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    return true
  }

  private static func deposit(
    _ stand: RoomStand, _ name: String, _ value: String, by uid: UInt32
  ) throws -> DepositAnswer {
    try stand.items.deposit(
      try ItemName(name), kind: nil, attributes: nil, accessible: nil, count: value.utf8.count,
      for: RoomStand.caller(uid), Said()
    ) { bytes(value, into: &$0) }
  }

  private static func box(_ stand: RoomStand, _ name: String, _ value: String) throws -> String {
    let key = try stand.items.publicKey(for: stand.administrator).text
    let item = DepositedItem(name: try ItemName(name), accessible: .whenUnlocked, kind: nil, attributes: nil)
    return try stand.items.seal(for: key, item, count: value.utf8.count) { bytes(value, into: &$0) }.box
  }

  @Test("by a list whose refusal tells a depositor nothing of the item") func deposited() throws {
    let stand = try Self.stand()
    try Self.give(stand, 990, "**", "deposit")
    // A caller may know one class of items, and not another one.
    try stand.set("open", accessible: .always)
    func answer(_ name: String, by uid: UInt32) -> String? {
      do {
        _ = try Self.deposit(stand, name + ".revoked", "junk", by: uid)
        return nil
      } catch {
        return "\(error)".replacingOccurrences(of: name, with: "NAME")
      }
    }
    let answers = ["key", "other", "none", "open"].map { answer($0, by: 990) }
    #expect(answers[0] != nil && Set(answers).count == 1, "\(answers)")
    #expect(try stand.items.deposits().isEmpty)
    // A caller who may know of the items is refused only what would be a list.
    try Self.give(stand, 991, "**", "deposit,find")
    #expect(["key", "other", "none", "open"].map { answer($0, by: 991) == nil } == [false, true, true, true])
  }

  @Test(
    "by no list that a box, an accepted deposit, a move, an old version or a generator brings",
    arguments: [true, false])
  func otherWays(isLocked: Bool) throws {
    let stand = try Self.stand()
    let list = try ItemName("key.revoked")
    let token = try Self.token(stand)
    try Self.give(stand, 990, "*.revoked", "deposit,set,find")
    let boxes = try ["key", "none"].map { try Self.box(stand, $0 + ".revoked", "junk") }
    let good = try Self.box(stand, "key.revoked", #"{"revoked":[]}"#)
    if isLocked { stand.vault.lock(because: .asked) }
    for box in boxes + [good] { _ = try stand.items.deposit(box: box, for: RoomStand.caller(990), Said()) }
    if isLocked { try stand.unlock() }
    stand.run()
    // An item of which a caller may not know decides nothing: there is no item `none`.
    #expect(try stand.items.deposits().map(\.obstacle) == [.noList, .noList])
    #expect(try Self.isValid(token, stand))
    #expect(try stand.items.item(list, for: stand.administrator).current.number == 1)
    func expectRefused(_ what: String, _ body: () throws -> Void) {
      let refusal = #expect(throws: Refusal.self, "\(what)") { try body() }
      if case .invalidValue? = refusal { return }
      Issue.record("\(what): \(String(describing: refusal))")
    }
    for told in try stand.items.deposits() where told.item?.name == list {
      expectRefused("settled") {
        _ = try stand.items.settleDeposit(told.number, isAccepted: true, for: stand.administrator)
      }
    }
    _ = try stand.items.delete([list], isForGood: true, for: stand.administrator)
    try stand.set("junk")
    expectRefused("moved") { try stand.items.move(try ItemName("junk"), to: list, for: stand.administrator) }
    expectRefused("generated") {
      _ = try stand.items.set(
        ItemChange(name: list), .generated(.password(length: 20, symbols: false)), for: stand.administrator
      ) { _ in true }
    }
    try stand.set("list", kind: .note, "junk")
    let change = ItemChange(name: try ItemName("list"), update: true)
    try stand.vault.keychain().set(change, value: RoomStand.secret(Array(#"{"revoked":[]}"#.utf8)), now: 2000)
    try stand.items.move(try ItemName("list"), to: list, for: stand.administrator)
    expectRefused("restored") { _ = try stand.items.restoreVersion(1, of: list, for: stand.administrator) }
    #expect(try Self.isValid(token, stand))
  }

  @Test("by no list that comes out of the trash, or while nobody can tell what it is for", arguments: [true, false])
  func hiddenWays(isHidden: Bool) throws {
    var settings = VaultSettings()
    settings.hideNames = isHidden
    settings.trash = 86_400
    let stand = try RoomStand.unlocked(settings, system: true)
    let (key, list) = (try ItemName("key"), try ItemName("key.revoked"))
    func refused(_ body: () throws -> Void) -> String? {
      do {
        try body()
        return nil
      } catch Refusal.invalidValue(_, let reason) { return reason } catch { return "\(error)" }
    }
    let junk = "`key.revoked`: the list of revoked tokens is not a JSON object"
    for value in ["junk", #"{"revoked":[]}"#] {
      try stand.set("key.revoked", accessible: .always, kind: .note, value)
      _ = try stand.items.delete([list], isForGood: false, for: stand.administrator)
      _ = try stand.items.set(
        ItemChange(name: key, use: .jwt), .generated(.key(.hmac)), for: stand.administrator
      ) { _ in true }
      #expect(refused { try stand.items.undelete(list, for: stand.administrator) } == (value == "junk" ? junk : nil))
      _ = try stand.items.delete([key], isForGood: true, for: stand.administrator)
    }
    _ = try stand.items.delete([list], isForGood: true, for: stand.administrator)
    // The item `key` is not there any more, and as long as names are hidden, nobody knows.
    stand.vault.lock(because: .asked)
    let told = refused { try stand.set("key.revoked", accessible: .always, kind: .note, "junk") }
    #expect(told == (isHidden ? junk : nil))
  }

  @Test("by a clock that was turned back after they were made, also if the disk was full for their time")
  func unstoredTime() throws {
    var disk: SmallDisk?
    let stand = try RoomStand.unlocked(system: true) { disk = SmallDisk($0) }
    defer { stand.vault.closeStore() }
    let change = ItemChange(name: try ItemName("key"), use: .jwt)
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    stand.run()
    stand.hands.wall.value += 60
    disk?.fill()
    let token = try Self.token(stand)
    #expect(disk.map { $0.refused > 0 } == true)
    disk?.free()
    stand.hands.wall.value -= 60
    _ = try stand.items.revoke(.all(of: "lamp"), of: change.name, for: stand.administrator)
    stand.hands.wall.value += 60
    #expect(try !Self.isValid(token, stand))
  }

  @Test("by a number or a subject, and not by what cannot be one") func given() throws {
    let stand = try Self.stand()
    for tokens: Items.RevokedTokens in [
      .one(""), .one("a.b.c"), .one("a b"), .one("x"), .one(String(Self.id(1).dropLast())), .one("jti:" + Self.id(1)),
      .all(of: ""), .all(of: "a\nb"), .all(of: "lamp-*"),
    ] {
      let refusal = #expect(throws: Refusal.self) {
        try stand.items.revoke(tokens, of: try ItemName("key"), for: stand.administrator)
      }
      if case .invalidValue? = refusal { continue }
      Issue.record("\(tokens): \(String(describing: refusal))")
    }
  }

  @Test("by a number in capitals, and by a subject only where the item's terms have it") func spelled() throws {
    let stand = try RoomStand.unlocked(system: true)
    let name = try ItemName("key")
    var change = ItemChange(name: name, use: .jwt)
    change.attributes = ["sub": "lam*"]
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    for subject in ["door-1", "lam/p", "Lamp"] {
      let refusal = #expect(throws: Refusal.self) {
        try stand.items.revoke(.all(of: subject), of: name, for: stand.administrator)
      }
      if case .notOnTheseTerms? = refusal { continue }
      Issue.record("\(subject): \(String(describing: refusal))")
    }
    #expect(throws: Refusal.noSuchItem("key.revoked", isVerified: true)) {
      try stand.items.item(try ItemName("key.revoked"), for: stand.administrator)
    }
    var (token, id) = ("", "")
    _ = try stand.items.issue(
      name, WantedToken(subject: "lamp", lifetime: nil, claims: nil), for: stand.administrator
    ) { made in
      (token, id) = (String(decoding: made.text.withBytes { $0.array }, as: UTF8.self), made.id)
    }
    #expect(try Self.isValid(token, stand))
    _ = try stand.items.revoke(.one(id.uppercased()), of: name, for: stand.administrator)
    #expect(try !Self.isValid(token, stand))
  }

  @Test("where the list is damaged, only a token that is good otherwise waits for it") func damaged() throws {
    let stand = try Self.stand()
    var token: [UInt8] = []
    let name = try ItemName("key")
    let wanted = WantedToken(subject: nil, lifetime: nil, claims: nil)
    _ = try stand.items.issue(name, wanted, for: stand.administrator) { made in
      token = made.text.withBytes { $0.array }
    }
    func verdict(_ token: [UInt8]) throws -> String {
      var text = ""
      _ = try stand.items.verify(RoomStand.secret(token), of: name, for: stand.administrator) { checked in
        if case .fault(let reason) = checked { text = reason } else { text = "valid" }
      }
      return text
    }
    #expect(try verdict(token) == "valid")
    let list = ItemChange(name: try ItemName("key.revoked"), kind: .note, update: true)
    for (value, isTaken) in [("damaged", false), ("{\"revoked\":[]}", true)] {
      let bytes = Array(value.utf8)
      func set() throws {
        _ = try stand.items.set(list, .bytes(count: bytes.count), for: stand.administrator) { out in
          for (index, byte) in bytes.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
          return true
        }
      }
      if isTaken { try set() } else { #expect(throws: Refusal.self) { try set() } }
      #expect(try verdict(token) == "valid")
    }
    // A list that was damaged in another way, such as one that was there before the item.
    try stand.vault.keychain().set(list, value: RoomStand.secret(Array("damaged".utf8)), now: 2000)
    #expect(throws: Refusal.self) { try verdict(token) }
    #expect(try verdict(Array(token.dropLast())) != "valid" && verdict(Array("a.b.c".utf8)) != "valid")
  }
}

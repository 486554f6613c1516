import Testing
import VaultModel

@testable import VaultService

@Suite("An import into the keyring") struct KeyringImportTests {
  /// An item of another keyring, with its value.
  private struct Other {
    var path = "/org/freedesktop/secrets/collection/login/1"
    var value: String
    var label = "label"
    var attributes: [(key: String, value: String)] = [("a", "1")]
    var type = "text/plain"
    var created: Int64? = 1_600_000_000
    var modified: Int64? = 1_600_000_001
    var collection: CollectionID? = .login
  }

  private static func takeIn(
    _ others: [Other], _ stand: KeyringStand, isTrial: Bool = false, for caller: Caller? = nil
  ) throws -> [ImportOutcome] {
    let items = try others.map { other in
      ForeignItem(
        in: other.collection, from: other.path,
        KeyringFacts(
          id: KeyringID(number: 0), order: 0, label: other.label, contentType: other.type,
          attributes: try KeyringAttributes(other.attributes), created: other.created, modified: other.modified))
    }
    var outcomes: [ImportOutcome] = []
    // A slow machine may need more than one call.
    while outcomes.count < others.count {
      let rest = Array(others[outcomes.count...])
      outcomes += try stand.rooms.items.takeIn(
        Array(items[outcomes.count...]), sizes: rest.map(\.value.utf8.count), isTrial: isTrial,
        for: caller ?? stand.rooms.administrator
      ) { index, out in
        for (place, byte) in rest[index].value.utf8.enumerated() {
          out.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
        }
        return true
      }
    }
    return outcomes
  }

  private func values(_ stand: KeyringStand) throws -> [String] {
    try stand.find().map { try stand.value($0.path).replacing("text/plain ", with: "") }
  }

  @Test("keeps what the other keyring tells, in its order, after what is there and before what comes later")
  func kept() throws {
    let stand = try KeyringStand()
    try stand.make("before")
    _ = stand.take()
    let others = [
      Other(path: "/b/2", value: "b", label: "two\nlines", attributes: [("", ""), ("a\t", "\n")]),
      Other(path: "/b/1", value: "a", attributes: [("x", "y")], type: "application/x-test"),
    ]
    #expect(try Self.takeIn(others, stand, isTrial: true) == [.new, .new])
    #expect(try values(stand) == ["before"])
    #expect(try Self.takeIn(others, stand) == [.new, .new])
    try stand.make("after")
    #expect(try values(stand) == ["before", "b", "application/x-test a", "after"])
    let hit = try #require(try stand.find([("", "")]).first)
    let item = try stand.keyring.item(hit.path, for: stand.program)
    #expect(item.label == "two\nlines" && item.created == 1_600_000_000 && item.modified == 1_600_000_001)
    #expect(stand.take() == ["login created", "login created", "login created"])
    // A change here makes the time of the last change there meaningless.
    try stand.keyring.set(label: "new", attributes: nil, of: hit.path, for: stand.program)
    let changed = try stand.keyring.item(hit.path, for: stand.program)
    #expect(changed.created == 1_600_000_000 && changed.modified != 1_600_000_001)
  }

  @Test("changes nothing a second time, whatever has become of the items here") func again() throws {
    let stand = try KeyringStand()
    let others = (1...4).map { Other(path: "/c/\($0)", value: "v\($0)", attributes: [("n", "\($0)")]) }
    #expect(try Self.takeIn(others, stand) == [.new, .new, .new, .new])
    let paths = try stand.find().map(\.path)
    try stand.keyring.set(KeyringStand.secret("other"), of: paths[0], for: stand.program)
    try stand.keyring.set(
      label: "other", attributes: try KeyringStand.attributes([("m", "1")]), of: paths[1], for: stand.program)
    try stand.rooms.items.move(
      try ItemName("secret-service/login/\(paths[2].element)"), to: try ItemName("secret-service/login/mine"),
      for: stand.rooms.administrator)
    for number in 0..<20 {
      try stand.keyring.set(KeyringStand.secret("\(number)"), of: paths[3], for: stand.program)
    }
    let before = try values(stand)
    #expect(try Self.takeIn(others, stand, isTrial: true) == [.known, .known, .known, .known])
    #expect(try Self.takeIn(others, stand) == [.known, .known, .known, .known])
    #expect(try values(stand) == before)
    // An item that was deleted here is copied again.
    try stand.keyring.delete(paths[0], for: stand.program)
    #expect(try Self.takeIn(others, stand) == [.new, .known, .known, .known])
  }

  @Test("GNOME Keyring's later schema, and a new path there, make no second copy") func schema() throws {
    let stand = try KeyringStand()
    #expect(try Self.takeIn([Other(value: "v")], stand) == [.new])
    let later = Other(value: "v", attributes: [("a", "1"), ("xdg:schema", "org.freedesktop.Secret.Generic")])
    #expect(try Self.takeIn([later], stand) == [.known])
    #expect(try Self.takeIn([Other(path: "/elsewhere/9", value: "v")], stand) == [.present])
    #expect(try values(stand) == ["v"])
  }

  @Test("stores beside what has the same attributes, and loses nothing that changed there without a sign")
  func beside() throws {
    let stand = try KeyringStand()
    try stand.make("mine", "label", [("a", "1")])
    #expect(try Self.takeIn([Other(value: "theirs")], stand) == [.beside])
    // With the same times, only the value tells that it was changed.
    #expect(try Self.takeIn([Other(value: "changed")], stand) == [.beside])
    #expect(try Self.takeIn([Other(value: "changed"), Other(value: "theirs")], stand) == [.known, .known])
    var newer = Other(value: "newer")
    newer.modified = 1_600_000_009
    #expect(try Self.takeIn([newer], stand) == [.beside])
    // The newer item of the other keyring is found before its older one, but after those that were made here.
    #expect(try values(stand) == ["mine", "newer", "theirs", "changed"])
    let path = try stand.find()[1].path
    try stand.keyring.set(KeyringStand.secret("set here"), of: path, for: stand.program)
    newer.modified = 1_600_000_010
    newer.value = "newest"
    #expect(try Self.takeIn([newer], stand) == [.beside])
    #expect(try values(stand) == ["mine", "set here", "newest", "theirs", "changed"])
    var timeless = Other(path: "/t/1", value: "x", attributes: [("t", "1")])
    (timeless.created, timeless.modified) = (nil, nil)
    var other = timeless
    other.attributes = [("t", "2")]
    #expect(try Self.takeIn([timeless, other, timeless], stand) == [.new, .new, .present])
    #expect(try Self.takeIn([other, timeless], stand) == [.known, .known])
  }

  @Test("makes items whose values programs can change that may not change anything else of them") func held() throws {
    let stand = try KeyringStand()
    #expect(try Self.takeIn([Other(value: "v")], stand) == [.new])
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    let subject = try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined")
    let (access, administrator) = (stand.rooms.access, stand.rooms.administrator)
    access.add(.password, by: administrator, with: [])
    let rights = Rights(.get).union(Rights(.set)).union(Rights(.find))
    _ = try access.give(subject, try ItemPattern("secret-service/**"), rights, until: nil, for: administrator)
    let path = try #require(try stand.find().first).path
    try stand.keyring.set(KeyringStand.secret("set"), of: path, for: confined)
    #expect(try values(stand) == ["set"])
    let attributes = try KeyringStand.attributes([("a", "1")])
    let secret = KeyringStand.secret("replaced")
    let same = try stand.keyring.make("label", attributes, secret, in: .login, replacing: path, for: confined)
    #expect(try same == path && values(stand) == ["replaced"])
  }

  @Test("refuses a collection in a trial as it does without one") func refusedCollections() throws {
    let stand = try KeyringStand()
    func take(_ label: String, isTrial: Bool, made: Int = 0) throws -> Bool {
      try stand.rooms.items.takeIn(
        collection: "/c", label: label, isStandard: false, isTrial: isTrial, made: made, for: stand.rooms.administrator
      ).isNew
    }
    for isTrial in [true, false] {
      #expect(throws: Refusal.self) { try take(String(repeating: "l", count: 4097), isTrial: isTrial) }
      #expect(throws: Refusal.self) { try take("a\0b", isTrial: isTrial) }
    }
    #expect(try take("l", isTrial: true, made: 255))
    for made in [256, .max, -1] { #expect(throws: Refusal.self) { try take("l", isTrial: true, made: made) } }
    #expect(stand.keyring.collections == [.login, .session])
  }

  @Test("twins of one call are one item if they are the same in everything") func twins() throws {
    let stand = try KeyringStand()
    let twins = [
      Other(path: "/1", value: "v"), Other(path: "/2", value: "v"), Other(path: "/3", value: "w"),
      Other(path: "/4", value: "v", label: "another"),
    ]
    #expect(try Self.takeIn(twins, stand, isTrial: true) == [.new, .present, .beside, .beside])
    #expect(try Self.takeIn(twins, stand) == [.new, .present, .beside, .beside])
    #expect(try Self.takeIn(twins, stand) == [.known, .present, .known, .known])
  }

  @Test("handles as many items as one call can") func parts() throws {
    let stand = try KeyringStand()
    let many = (0..<500).map { Other(path: "/\($0)", value: "v", attributes: [("n", "\($0)")]) }
    #expect(try Self.takeIn(many, stand).allSatisfy { $0 == .new })
    #expect(try Self.takeIn(many, stand).allSatisfy { $0 == .known })
    let large = (0..<3).map {
      Other(path: "/l\($0)", value: "", attributes: [(String(repeating: "k", count: 60_000), "\($0)")])
    }
    #expect(try Self.takeIn(large, stand) == [.new, .new, .new])
  }

  @Test("is refused while the vault is locked, beyond the limits, and without a collection") func refused() throws {
    let stand = try KeyringStand()
    var other = Other(value: "v", type: String(repeating: "t", count: 256))
    #expect(throws: Refusal.self) { try Self.takeIn([other], stand) }
    other = Other(value: String(repeating: "v", count: ValueLimits.bytes + 1))
    #expect(throws: Refusal.tooLarge(limit: ValueLimits.bytes)) { try Self.takeIn([other], stand) }
    other = Other(value: "v", collection: nil)
    #expect(throws: Refusal.invalid("collection")) { try Self.takeIn([other], stand) }
    #expect(try Self.takeIn([other, other], stand, isTrial: true) == [.new, .present])
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.self) { try Self.takeIn([Other(value: "v")], stand) }
    #expect(
      try stand.rooms.items.find(Query(within: nil), limit: 9, after: nil, until: .max, for: stand.rooms.administrator)
        .items.isEmpty)
  }

  @Test("collections are found again by their path there, or by their label, and the default one is taken once")
  func collections() throws {
    let stand = try KeyringStand()
    func take(_ source: String?, _ label: String, isStandard: Bool = false, isTrial: Bool = false) throws
      -> Items.TakenCollection
    {
      try stand.rooms.items.takeIn(
        collection: source, label: label, isStandard: isStandard, isTrial: isTrial, for: stand.rooms.administrator)
    }
    #expect(try take(nil, "Login", isStandard: true).id == .login)
    let trial = try take("/work", "Work", isStandard: true, isTrial: true)
    #expect(trial.id == nil && trial.isNew && trial.becomesStandard)
    #expect(stand.keyring.collections == [.login, .session])
    let made = try take("/work", "Work", isStandard: true)
    #expect(made.isNew && made.becomesStandard && stand.keyring.collection(alias: "default") == made.id)
    let id = try #require(made.id)
    #expect(try stand.keyring.describe(id, for: stand.program).label == "Work")
    // It is known by its path, whatever label it has now here or there.
    try stand.keyring.set(label: "Mine", of: id, for: stand.program)
    let again = try take("/work", "Other", isStandard: true)
    #expect(again.id == id && !again.isNew && !again.becomesStandard)
    // The mark stays when another one becomes the default one.
    let own = try stand.keyring.makeCollection("Own", isStandard: true, for: stand.program)
    #expect(try take("/work", "Work", isStandard: true).id == id)
    #expect(stand.keyring.collection(alias: "default") == own)
    #expect(try take("/elsewhere/own", "Own").id == own)
    #expect(try take("/elsewhere/mine", "Mine").isNew)
    #expect(stand.keyring.collections.count == 5)
  }

  @Test("collections are found again behind any number of others, whatever their labels are") func longLabels() throws {
    let stand = try KeyringStand()
    func take(_ source: String) throws -> Items.TakenCollection {
      try stand.rooms.items.takeIn(
        collection: source, label: source, isStandard: true, isTrial: false, for: stand.rooms.administrator)
    }
    let label = String(repeating: "l", count: Keyring.longestLabel)
    for _ in 0..<40 { _ = try stand.keyring.makeCollection(label, isStandard: false, for: stand.program) }
    let own = try stand.keyring.makeCollection("Own", isStandard: true, for: stand.program)
    let made = try (0..<3).map { try take("/\($0)") }
    #expect(made.allSatisfy { $0.isNew && !$0.becomesStandard })
    #expect(try (0..<3).map { try take("/\($0)").id } == made.map(\.id))
    #expect(stand.keyring.collection(alias: "default") == own)
  }
}

import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Grants") struct GrantTests {
  private static let denied = Refusal.denied("you may not do this")

  private static func give(
    _ stand: RoomStand, _ subject: String, _ pattern: String, _ rights: String, until: Int64? = nil
  ) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: rights), until: until,
      for: stand.administrator)
  }

  private static func isServed(_ stand: RoomStand, _ name: String, _ caller: Caller) throws(Refusal) -> Bool {
    var isServed = false
    guard let name = try? ItemName(name) else { return false }
    _ = try stand.items.get(name, for: caller) { _, _, _ in isServed = true }
    return isServed
  }

  private static func found(_ stand: RoomStand, _ caller: Caller, _ query: String = "") throws -> [String] {
    var names: [String] = []
    var after: SearchPlace?
    repeat {
      let page = try stand.items.find(try Query(parsing: query), limit: 3, after: after, until: .max, for: caller)
      names += page.items.map(\.name.text)
      after = page.next
    } while after != nil
    return names.sorted()
  }

  @Test("let callers that are the subject do what they say to the items that they are for, and nobody else anything")
  func basics() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("iothome/express.key")
    try stand.set("iothome/deep/er")
    try stand.set("other")
    try Self.give(stand, "unit:iothome.service", "iothome/*", "get,find")
    let service = RoomStand.caller(990, unit: "iothome.service")
    #expect(try Self.isServed(stand, "iothome/express.key", service))
    for name in ["iothome/deep/er", "other", "missing", "iothome/deep/missing"] {
      #expect(throws: Self.denied, "\(name)") { try Self.isServed(stand, name, service) }
      #expect(throws: Self.denied, "\(name)") { try stand.items.item(try ItemName(name), for: service) }
    }
    // The caller may know that an item with a name in its grant is missing.
    #expect(throws: Refusal.noSuchItem("iothome/missing", isVerified: true)) {
      try Self.isServed(stand, "iothome/missing", service)
    }
    #expect(try Self.found(stand, service) == ["iothome/express.key"])
    #expect(throws: Self.denied) { try stand.set("iothome/new", by: service) }
    for other in [
      RoomStand.caller(990, unit: "iothome2.service"), RoomStand.caller(990), RoomStand.caller(1000),
    ] {
      #expect(throws: Self.denied) { try Self.isServed(stand, "iothome/express.key", other) }
      #expect(try Self.found(stand, other).isEmpty)
    }
    // Administrators are root and the members of a group; the daemon's own account is not one.
    var admin = RoomStand.caller(1001)
    admin.groups = [1001, RoomStand.administrators]
    for caller in [RoomStand.caller(0), admin] { #expect(try Self.isServed(stand, "other", caller)) }
  }

  @Test("for one name give nothing on a longer or a shorter one, nor on what is below it, whatever the right")
  func exactName() throws {
    let names = ["a", "a/", "a/b", "a/bc", "a/b/c", "a/b/", "A/b", "a/B", "xa/b", "x/a/b", "a/b.revoked"]
      .compactMap { try? ItemName($0) }
    let stand = try RoomStand.unlocked(system: true)
    let caller = RoomStand.caller(990)
    for name in names { try stand.set(name.text) }
    for right in Right.allCases {
      try Self.give(stand, "user:990", "a/b", right.name)
      for name in names {
        let expected = name.text == "a/b" ? Rights(right) : []
        #expect(stand.access.permit(caller, on: name).anywhere == expected, "\(right.name) \(name.text)")
        #expect(stand.items.mayWatch(name, caller) == expected.contains(.watch), "\(right.name) \(name.text)")
        if expected.isEmpty { #expect(throws: Self.denied) { try Self.isServed(stand, name.text, caller) } }
      }
      let expected = Rights(right).contains(.find) ? ["a/b"] : []
      for query in ["", "name~a/*", "name~a/b*", "name~a/b/*", "name=a/bc"] {
        let isSought = ["", "name~a/*", "name~a/b*"].contains(query)
        #expect(try Self.found(stand, caller, query) == (isSought ? expected : []), "\(right.name) \(query)")
      }
    }
  }

  @Test("with several parts are for callers of whom all of them hold") func parts() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("a")
    try Self.give(stand, "user:990,group:995,unit:x.service", "a", "get")
    func caller(_ uid: UInt32, _ gid: UInt32, _ unit: String?) -> Caller {
      var caller = RoomStand.caller(uid, unit: unit)
      caller.groups = [uid, gid]
      return caller
    }
    #expect(try Self.isServed(stand, "a", caller(990, 995, "x.service")))
    for other in [caller(991, 995, "x.service"), caller(990, 996, "x.service"), caller(990, 995, nil)] {
      #expect(throws: Self.denied) { try Self.isServed(stand, "a", other) }
    }
  }

  @Test("of set let a caller create items and change their values, and nothing else about them") func setting() throws {
    let stand = try RoomStand.unlocked(system: true)
    let caller = RoomStand.caller(990)
    try Self.give(stand, "user:990", "own/*", "set")
    try stand.set("own/new", accessible: .always, kind: .deviceToken, "value", by: caller)
    func change(_ body: (inout ItemChange) -> Void) throws(Refusal) {
      guard var change = try? ItemChange(name: ItemName("own/new"), update: true) else { return }
      body(&change)
      _ = try stand.items.set(change, .bytes(count: 1), for: caller) {
        $0.storeBytes(of: 65, as: UInt8.self)
        return true
      }
    }
    try change { _ in }
    let changes: [(inout ItemChange) -> Void] = [
      { $0.kind = .note }, { $0.attributes = ["a": "b"] }, { $0.accessible = .whenUnlocked },
      { $0.require = .password },
      { $0.reuseWindow = 5 }, { $0.expires = .some(nil) }, { $0.expires = .some(99) },
    ]
    for body in changes { #expect(throws: Self.denied) { try change(body) } }
    let name = try ItemName("own/new")
    #expect(throws: Self.denied) { _ = try stand.items.delete([name], isForGood: false, for: caller) }
    #expect(throws: Self.denied) { try stand.items.move(name, to: try ItemName("own/other"), for: caller) }
    #expect(throws: Self.denied) { _ = try stand.items.restoreVersion(1, of: name, for: caller) }
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/new", caller) }
    #expect(throws: Self.denied) { try stand.set("elsewhere", by: caller) }
    let item = try stand.items.item(name, for: stand.administrator)
    #expect(item.kind == .deviceToken && item.policy.accessible == .always && item.versions.count == 2)
    #expect(item.creator == "user:990" && item.current.writer == "user:990")
  }

  @Test("of set renew no item whose expiry has passed") func expired() throws {
    let stand = try RoomStand.unlocked(system: true)
    var change = ItemChange(name: try ItemName("own/a"))
    change.expires = 5
    let value = NewValue.generated(.phrase(words: 4))
    _ = try stand.items.set(change, value, for: stand.administrator) { _ in true }
    try Self.give(stand, "user:990", "own/*", "set")
    let renewal = ItemChange(name: try ItemName("own/a"), update: true)
    #expect(throws: Refusal.expired("own/a", 5)) {
      _ = try stand.items.set(renewal, value, for: RoomStand.caller(990)) { _ in true }
    }
    _ = try stand.items.set(renewal, value, for: stand.administrator) { _ in true }
  }

  @Test("of admin let a caller do everything to the items that they are for") func admin() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    try Self.give(stand, "user:990", "own/*", "admin")
    let caller = RoomStand.caller(990)
    try stand.items.move(try ItemName("own/a"), to: try ItemName("own/b"), for: caller)
    #expect(throws: Self.denied) { try stand.items.move(try ItemName("own/b"), to: try ItemName("b"), for: caller) }
    _ = try stand.items.delete([try ItemName("own/b")], isForGood: false, for: caller)
    try stand.items.undelete(try ItemName("own/b"), for: caller)
    #expect(try Self.isServed(stand, "own/b", caller))
    // A right on items gives no right on the vault itself.
    #expect(throws: Refusal.self) { try stand.access.checkAdministrator(caller) }
  }

  @Test("end at their time, by the later of two clocks") func until() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("a")
    let now = stand.vault.newestTime
    try Self.give(stand, "user:990", "a", "get", until: now + 100)
    #expect(try Self.isServed(stand, "a", RoomStand.caller(990)))
    #expect(stand.access.hasAny(RoomStand.caller(990)))
    stand.hands.wall.value = now + 100
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", RoomStand.caller(990)) }
    #expect(!stand.access.hasAny(RoomStand.caller(990)))
    // A time that the store records as past is past, whatever the clock says.
    try stand.set("b")
    stand.hands.wall.value = now
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", RoomStand.caller(990)) }
    // It is still listed, but not where somebody asks for what applies to a caller.
    let all = try stand.access.grants(.init(), for: stand.administrator).next(.max).grants
    #expect(all.map(\.isActive) == [false])
    let own = Access.GrantFilter(subject: try Subject(parsing: "user:990"))
    #expect(try stand.access.grants(own, for: stand.administrator).next(.max).grants.isEmpty)
    #expect(throws: Refusal.invalidGrant("the end of the grant has already passed")) {
      try Self.give(stand, "user:990", "a", "get", until: now + 50)
    }
  }

  @Test("that let somebody watch are used for as long as it watches, whether anything happens or not") func watched()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "watch")
    try Self.give(stand, "user:990", "other/*", "get")
    try Self.give(stand, "user:991", "own/*", "watch")
    func used() -> [String: Int64] {
      let told = stand.access.book.all.map { stand.access.told($0.id, $0.grant).grant }
      return Dictionary(
        told.compactMap { grant in grant.used.map { ("\(grant.subject) \(grant.pattern.text)", $0) } },
        uniquingKeysWith: { first, _ in first })
    }
    #expect(used().isEmpty)
    let caller = RoomStand.caller(990)
    try stand.items.watch(for: caller)
    let began = stand.hands.wall.value
    #expect(used() == ["user:990 own/*": began])
    // Days later, the watcher's right to stay is decided again.
    stand.hands.wall.value += 40 * 86_400
    #expect(stand.items.mayWatchAnything(caller) == true)
    #expect(used() == ["user:990 own/*": began + 40 * 86_400])
  }

  @Test("count again after a restart, in each class once its key is there") func states() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    try stand.set("own/always", accessible: .always)
    try Self.give(stand, "user:990", "own/*", "get,find,watch")
    let caller = RoomStand.caller(990)
    try stand.restart(withBootKey: false)
    for name in ["own/a", "own/always", "other"] {
      #expect(try stand.items.get(try ItemName(name), for: caller) { _, _, _ in } == .unlock)
    }
    #expect(stand.items.mayWatchAnything(caller) == nil)
    try stand.restart()
    #expect(try Self.isServed(stand, "own/always", caller))
    #expect(try stand.items.get(try ItemName("own/a"), for: caller) { _, _, _ in } == .unlock)
    #expect(try stand.items.get(try ItemName("other"), for: caller) { _, _, _ in } == .unlock)
    #expect(stand.items.mayWatchAnything(caller) == true)
    try stand.unlock()
    #expect(try Self.isServed(stand, "own/a", caller))
    #expect(throws: Self.denied) { try Self.isServed(stand, "other", caller) }
    stand.vault.lock(because: .asked)
    #expect(try stand.items.get(try ItemName("own/a"), for: caller) { _, _, _ in } == .unlock)
    #expect(throws: Self.denied) { try Self.isServed(stand, "other", caller) }
    #expect(try Self.found(stand, caller) == ["own/a", "own/always"])
  }

  @Test("are forgotten by a lock that hides names, which names them too") func hiddenNames() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    try stand.set("own/a")
    try stand.set("own/boot", accessible: .always)
    try Self.give(stand, "user:990", "own/*", "get,find")
    stand.vault.lock(because: .asked)
    let caller = RoomStand.caller(990)
    #expect(stand.access.book.all.isEmpty && !AccessClass.allCases.contains(where: stand.access.book.knows))
    #expect(try stand.items.get(try ItemName("other"), for: caller) { _, _, _ in } == .unlock)
    // Items that need no unlock are served by grants that are read again and not kept.
    #expect(try Self.isServed(stand, "own/boot", caller))
    #expect(stand.access.book.all.isEmpty && caller.memory.standing == nil)
    #expect(throws: Refusal.locked(stand.vault.state)) { try stand.access.grants(.init(), for: stand.administrator) }
    // A revoked grant no longer counts, though nobody can tell yet which one it was.
    let (_, unstored) = try stand.access.revoke(
      try Subject(parsing: "user:990"), try ItemPattern("own/*"), for: stand.administrator)
    #expect(unstored != nil)
    #expect(try !Self.isServed(stand, "own/boot", caller))
    try stand.unlock()
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/boot", caller) }
    try Self.give(stand, "user:990", "own/*", "get,find")
    #expect(try Self.isServed(stand, "own/a", caller))
    try stand.restart()
    #expect(stand.access.book.all.isEmpty)
    #expect(try Self.isServed(stand, "own/boot", caller))
  }

  @Test("are revoked at once, and taken out of the store at the next unlock where it is locked") func revoking() throws
  {
    let stand = try RoomStand.unlocked(system: true)
    let caller = RoomStand.caller(990)
    try stand.set("own/a", accessible: .always)
    try Self.give(stand, "user:990", "own/*", "get")
    try Self.give(stand, "user:990", "own/a", "get")
    stand.vault.lock(because: .asked)
    let pattern = try ItemPattern("own/*")
    let (revoked, unstored) = try stand.access.revoke(
      try Subject(parsing: "user:990"), pattern, for: stand.administrator)
    #expect(revoked.count == 1 && unstored == "the vault is locked")
    // The other grant still counts.
    #expect(try Self.isServed(stand, "own/a", caller))
    let all = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    #expect(all.revoked.count == 1)
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", caller) }
    try stand.unlock()
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", caller) }
    try stand.restart()
    try stand.unlock()
    #expect(stand.access.book.all.isEmpty)
    #expect(throws: Refusal.noSuchGrant("user:990")) {
      _ = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    }
  }

  @Test("that were revoked while locked are there again after a restart before the next unlock") func unstored() throws
  {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "get")
    stand.vault.lock(because: .asked)
    _ = try stand.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.administrator)
    try stand.restart()
    try stand.unlock()
    // The grants for items of the classes whose keys were in memory are gone.
    #expect(stand.access.book.all.count == 1)
    #expect(try Keychain.classes(of: stand).map(\.count) == [1, 0, 0])
  }

  @Test("are replaced by another for the same subject and items") func replacing() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("a")
    try Self.give(stand, "user:990", "a", "get,find")
    let old = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("a"), Rights(.find), until: nil, for: stand.administrator)
    #expect(old?.rights.names == ["get", "find"])
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", RoomStand.caller(990)) }
    #expect(stand.access.book.all.count == 1)
    #expect(try Keychain.classes(of: stand).map(\.count) == [1, 1, 1])
  }

  @Test("are given and revoked by administrators alone") func administrators() throws {
    let stand = try RoomStand.unlocked(system: true)
    let (subject, pattern) = (try Subject(parsing: "user:990"), try ItemPattern("**"))
    for caller in [RoomStand.caller(990), RoomStand.caller(RoomStand.owner)] {
      #expect(throws: Refusal.self) {
        _ = try stand.access.give(subject, pattern, .all, until: nil, for: caller)
      }
      #expect(throws: Refusal.self) { _ = try stand.access.revoke(subject, nil, for: caller) }
      #expect(throws: Refusal.self) { _ = try stand.access.confirmGrants(for: caller) }
    }
    #expect(stand.access.book.all.isEmpty)
    #expect(throws: Refusal.self) { try Self.give(stand, "user:990,exe:/usr/bin/x", "a", "get") }
  }

  @Test("of a user's vault take a fresh proof of presence, and hold the program that they name to them") func confined()
    throws
  {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    #expect(throws: Refusal.presenceRequired("", .userPresence)) { try Self.give(stand, "unit:x.service", "a", "get") }
    stand.access.add(.presence, by: stand.administrator, with: [])
    try Self.give(stand, "unit:x.service", "iot/*", "get")
    func caller(_ unit: String?) -> Caller {
      var caller = RoomStand.caller()
      caller.userUnit = unit
      return caller
    }
    #expect(try Self.isServed(stand, "a", caller("y.service")))
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", caller("x.service")) }
    // A system unit of that name is a different unit.
    #expect(try Self.isServed(stand, "a", RoomStand.caller(unit: "x.service")))
    // The unit stays confined without any grant left, and after a restart before any unlock.
    _ = try stand.access.revoke(try Subject(parsing: "unit:x.service"), nil, for: stand.administrator)
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", caller("x.service")) }
    #expect(throws: Refusal.self) { try stand.access.checkAdministrator(caller("x.service")) }
    try stand.restart()
    #expect(throws: Refusal.self) { try stand.access.checkOpener(caller("x.service")) }
    #expect(throws: Never.self) { try stand.access.checkOpener(caller("y.service")) }
    // If nothing tells whom grants have named, any service may be confined.
    try stand.restart(withBootKey: false)
    #expect(throws: Refusal.self) { try stand.access.checkOpener(caller("y.service")) }
    #expect(throws: Never.self) { try stand.access.checkOpener(caller("app.scope")) }
    try stand.unlock()
    stand.access.add(.presence, by: stand.administrator, with: [])
    try stand.access.forgetConfined(try Subject(parsing: "unit:x.service"), for: stand.administrator)
    #expect(try Self.isServed(stand, "a", caller("x.service")))
  }

  @Test("never confine the program that gives them, nor make a confined one an administrator") func ownProgram() throws
  {
    let stand = try RoomStand.unlocked()
    var caller = RoomStand.caller()
    caller.userUnit = "mine.service"
    stand.access.add(.presence, by: caller, with: [])
    func give(_ subject: String, _ rights: Rights = Rights(.get)) throws {
      _ = try stand.access.give(try Subject(parsing: subject), try ItemPattern("a"), rights, until: nil, for: caller)
    }
    for subject in ["unit:mine.service", "user:1000,exe:/usr/bin/vault"] {
      #expect(throws: Refusal.self) { try give(subject) }
    }
    #expect(throws: Refusal.self) { try give("unit:other.service", .all) }
    #expect(stand.access.book.all.isEmpty && stand.access.book.confined.isEmpty)
  }

  @Test("by a program count for callers that run it") func programs() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    stand.access.add(.presence, by: stand.administrator, with: [])
    try Self.give(stand, "user:1000,exe:/usr/bin/dashboard", "a", "get")
    try stand.set("b")
    func caller(_ path: String?) -> Caller {
      let known = RoomStand.caller()
      return Caller(
        door: .varlink, uid: known.uid, groups: known.groups, pid: known.pid, started: nil, unit: nil,
        session: known.session, memory: Caller.Memory(executable: { path }))
    }
    #expect(try Self.isServed(stand, "a", caller("/usr/bin/dashboard")))
    #expect(throws: Self.denied) { try Self.isServed(stand, "b", caller("/usr/bin/dashboard")) }
    #expect(try Self.isServed(stand, "b", caller("/usr/bin/other")))
    // An upgrade that replaces the file does not change which program is running.
    let known = RoomStand.caller()
    let old = Caller(
      door: .varlink, uid: known.uid, groups: known.groups, pid: known.pid, started: nil, unit: nil,
      session: known.session, memory: Caller.Memory(executable: { nil }, former: { "/usr/bin/dashboard" }))
    for name in ["a", "b"] { #expect(throws: Self.denied) { try Self.isServed(stand, name, old) } }
  }

  @Test("by a digest wait for the caller's file, which nobody needs who is not the rest of the subject")
  func digests() throws {
    let stand = try RoomStand.unlocked()
    for name in ["a", "b"] { try stand.set(name) }
    let subject = try Subject(parsing: "user:1000,sha256:\(String(repeating: "0a", count: 32))")
    func isAwaited(_ caller: Caller) -> Bool { stand.access.awaitsDigest(of: caller) }
    let administrator = stand.administrator
    stand.access.add(.presence, by: administrator, with: [])
    #expect(stand.access.awaitsDigest(of: administrator, toBe: subject) && !isAwaited(administrator))
    administrator.memory.whenDigestIsKnown {}
    _ = try stand.access.give(
      subject, try ItemPattern("a"), try Rights(parsing: "get"), until: nil, for: administrator)
    #expect(!isAwaited(administrator) && !isAwaited(RoomStand.caller(990)))
    for (digest, served) in [
      (ProgramDigest.known(String(repeating: "0a", count: 32)), ["a"]), (.known("0b"), ["a", "b"]),
      (.known(nil), ["a", "b"]), (.uncertain, []),
    ] {
      var (asked, told): (Int, [Int]) = (0, [])
      var tell: (ProgramDigest) -> Void = { _ in }
      let known = RoomStand.caller()
      let caller = Caller(
        door: .varlink, uid: known.uid, groups: known.groups, pid: known.pid, started: nil, unit: nil,
        session: known.session,
        memory: Caller.Memory(digest: {
          asked += 1
          tell = $0
        }))
      // A file that was not read frees nobody from a confinement, and the standing of now is none for later.
      #expect(isAwaited(caller) && asked == 0)
      for name in ["a", "b"] { #expect(throws: Self.denied) { try Self.isServed(stand, name, caller) } }
      #expect(stand.access.auditName(of: caller).text == "user:1000")
      for number in 1...2 { caller.memory.whenDigestIsKnown { told.append(number) } }
      #expect(asked == 1 && told == [] && isAwaited(caller))
      tell(digest)
      #expect(told == [1, 2] && !isAwaited(caller))
      for name in ["a", "b"] {
        #expect(((try? Self.isServed(stand, name, caller)) ?? false) == served.contains(name), "\(digest) \(name)")
      }
      #expect(stand.access.auditName(of: caller).text == (served == ["a"] ? "\(subject)" : "user:1000"), "\(digest)")
    }
  }

  @Test("by a digest let a program lock the vault whose file is not read, unless another grant confines it for certain")
  func lockers() throws {
    let stand = try RoomStand.unlocked()
    func caller(_ path: String) -> Caller {
      let known = RoomStand.caller()
      return Caller(
        door: .varlink, uid: known.uid, groups: known.groups, pid: known.pid, started: nil, unit: nil,
        session: known.session, memory: Caller.Memory(executable: { path }, digest: { _ in }))
    }
    func mayLock(_ path: String) -> Bool { (try? stand.access.checkLocker(caller(path))) != nil }
    let administrator = stand.administrator
    stand.access.add(.presence, by: administrator, with: [])
    administrator.memory.whenDigestIsKnown {}
    for program in ["exe:/bin/sync", "sha256:\(String(repeating: "0a", count: 32))"] {
      _ = try stand.access.give(
        try Subject(parsing: "user:1000,\(program)"), try ItemPattern("a"), try Rights(parsing: "get"), until: nil,
        for: administrator)
      #expect(mayLock("/bin/other") && !mayLock("/bin/sync"), "\(program)")
    }
    #expect(!stand.access.isAdministrator(caller("/bin/other")))
  }

  @Test("answer what somebody may do, alike for items that are missing") func can() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    try Self.give(stand, "user:990", "own/*", "get")
    let subject = try Subject(parsing: "user:990")
    func can(_ subject: Subject?, _ right: Right, _ name: String, _ caller: Caller) throws -> Bool {
      try stand.access.can(subject, right, try ItemName(name), for: caller).isAllowed
    }
    for name in ["own/a", "own/missing"] {
      #expect(try can(subject, .get, name, stand.administrator))
      #expect(try can(subject, .use, name, stand.administrator))
      #expect(try !can(subject, .find, name, stand.administrator))
      #expect(try can(nil, .get, name, RoomStand.caller(990)) && can(subject, .get, name, RoomStand.caller(990)))
    }
    for name in ["a", "own/b/c"] { #expect(try !can(subject, .get, name, RoomStand.caller(990))) }
    #expect(throws: Refusal.denied("you may ask only about yourself")) {
      try can(subject, .get, "own/a", RoomStand.caller(991))
    }
    #expect(try can(try Subject(parsing: "user:0"), .admin, "own/a", stand.administrator))
  }

  @Test("are shown to administrators, and to others their own") func listing() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "user:990", "own/*", "get")
    try Self.give(stand, "user:991", "other/*", "get,find")
    func told(_ filter: Access.GrantFilter, _ caller: Caller) throws -> [String] {
      try stand.access.grants(filter, for: caller).next(.max).grants.map { $0.grant.pattern.text }
    }
    #expect(try told(.init(), stand.administrator) == ["own/*", "other/*"])
    #expect(try told(.init(), RoomStand.caller(990)) == ["own/*"])
    #expect(try told(.init(), RoomStand.caller(992)) == [])
    #expect(try told(.init(subject: try Subject(parsing: "user:991")), stand.administrator) == ["other/*"])
    #expect(try told(.init(subject: try Subject(parsing: "user:991")), RoomStand.caller(990)) == [])
    #expect(try told(.init(name: try ItemName("own/a")), stand.administrator) == ["own/*"])
    // The time of use is recorded to within a day.
    try stand.set("own/a")
    stand.hands.wall.value += 100 * 86_400
    #expect(try told(.init(unused: 90 * 86_400), stand.administrator) == ["own/*", "other/*"])
    #expect(try Self.isServed(stand, "own/a", RoomStand.caller(990)))
    #expect(try told(.init(unused: 90 * 86_400), stand.administrator) == ["other/*"])
    stand.access.storeUses()
    try stand.restart()
    try stand.unlock()
    #expect(try told(.init(unused: 90 * 86_400), stand.administrator) == ["other/*"])
  }

  @Test("decide where a search looks, whose pages hold each item once") func searching() throws {
    let stand = try RoomStand.unlocked(system: true)
    for name in ["a/1", "a/2", "a/b/3", "a/b/4", "a/b/5", "c", "d/1", "e/x", "e/y"] { try stand.set(name) }
    for (pattern, rights) in [
      ("a/*", "find"), ("a/b/*", "find"), ("a/b/4", "find"), ("c", "find"), ("d/*", "get"), ("e/x", "find,get"),
    ] { try Self.give(stand, "user:990", pattern, rights) }
    let caller = RoomStand.caller(990)
    #expect(try Self.found(stand, caller) == ["a/1", "a/2", "a/b/3", "a/b/4", "a/b/5", "c", "e/x"])
    #expect(try Self.found(stand, caller, "name~a/b/*") == ["a/b/3", "a/b/4", "a/b/5"])
    #expect(try Self.found(stand, caller, "name=e/y").isEmpty)
    let walk = NameWalk(prefix: "")
    var names: [String] = []
    while true {
      let (found, isOver) = try stand.items.children(walk, until: .max, for: caller)
      names += found
      if isOver { break }
    }
    #expect(names.sorted() == ["a/", "c", "e/"])
    // Only an administrator finds items in the trash.
    _ = try stand.items.delete([try ItemName("c")], isForGood: false, for: stand.administrator)
    var trash = try Query(parsing: "")
    trash.isOfTrash = true
    #expect(try stand.items.find(trash, limit: 9, after: nil, until: .max, for: caller).items.isEmpty)
    #expect(try stand.items.find(trash, limit: 9, after: nil, until: .max, for: stand.administrator).items.count == 1)
  }

  @Test(
    "of weaker classes alone count no more once a stronger class is known: somebody with the boot key put them there")
  func forged() throws {
    func record(_ user: Int, _ rights: Rights) throws -> GrantRecord {
      GrantRecord(
        .grant(
          Grant(
            subject: try Subject(parsing: "user:\(user)"), pattern: try ItemPattern("**"), rights: rights, created: 1)))
    }
    func counts(_ book: GrantBook, _ user: UInt32) -> Int {
      book.grants(for: CallerParts(RoomStand.caller(user), isSystem: true)).values.reduce(0) { $0 + $1.count }
    }
    let (real, forged) = (try record(990, Rights(.get)), try record(666, .all))
    // The first forgery adds a record, the second replaces the content of one.
    var edited = real
    edited.content = forged.content
    for records in [[real, forged], [edited]] {
      var book = GrantBook()
      book.load(.always, records)
      #expect(counts(book, 666) == 1)
      book.load(.whenUnlocked, [real])
      book.load(.afterFirstUnlock, [real])
      #expect(counts(book, 666) == 0)
      #expect(counts(book, 990) == (records.count == 2 ? 3 : 2))
      #expect(!book.counting.contains(forged.id))
      // Classes that differ from what was stored have no say in this.
      book.load([
        .whenUnlocked: .changed([real], because: .corrupt("")), .afterFirstUnlock: .changed([], because: .corrupt("")),
      ])
      #expect(counts(book, 666) == 1)
    }
    // If a class lost the record that all grants wait to be confirmed, its grants do not count, either.
    var book = GrantBook()
    book.load(.always, [real])
    book.load(.whenUnlocked, [real, GrantRecord(.unconfirmed(since: 1))])
    #expect(counts(book, 990) == 0)
  }

  @Test("are revoked also where nobody can read them yet: they never come to count") func coming() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    for pattern in ["own/*", "own/a"] { try Self.give(stand, "user:990", pattern, "get") }
    try Self.give(stand, "user:991", "own/*", "get")
    try stand.restart(withBootKey: false)
    let subject = try Subject(parsing: "user:990")
    let (revoked, unstored) = try stand.access.revoke(subject, try ItemPattern("own/*"), for: stand.administrator)
    #expect(revoked.isEmpty && unstored == "the vault is locked")
    try stand.unlock()
    #expect(stand.access.book.all.map(\.grant.pattern.text).sorted() == ["own/*", "own/a"])
    #expect(try Keychain.classes(of: stand).map(\.count) == [2, 2, 2])
    _ = try stand.access.revoke(subject, nil, for: stand.administrator)
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", RoomStand.caller(990)) }
    #expect(try Self.isServed(stand, "own/a", RoomStand.caller(991)))
    // A later grant counts.
    try Self.give(stand, "user:990", "own/*", "get")
    #expect(try Self.isServed(stand, "own/a", RoomStand.caller(990)))
  }

  @Test("are told of by who stored an item: the unit is that of the manager whose units grants name") func authors()
    throws
  {
    for isSystem in [false, true] {
      let stand = try RoomStand.unlocked(system: isSystem)
      var caller = stand.administrator
      // A unit of the user's own manager with the name of a system unit, and the reverse.
      (caller.unit, caller.userUnit) = isSystem ? ("user@1.service", "iothome.service") : ("iothome.service", nil)
      try stand.set("a", by: caller)
      let name = try ItemName("a")
      #expect(try stand.items.item(name, for: stand.administrator).creator == "user:\(caller.uid)")
      (caller.unit, caller.userUnit) = isSystem ? ("iothome.service", nil) : ("user@1000.service", "iothome.service")
      try stand.set("b", by: caller)
      let item = try stand.items.item(try ItemName("b"), for: stand.administrator)
      #expect(item.creator == "user:\(caller.uid),unit:iothome.service")
    }
  }

  @Test("that nobody has leave many changes at once refused alike, whether there are such items or not") func oracle()
    throws
  {
    let stand = try RoomStand.unlocked(system: true)
    // With the existing attributes, this is too much for one call.
    func long(_ count: Int) -> [String: String] {
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", String(repeating: "v", count: 1000)) })
    }
    for name in ["there/1", "there/2"] {
      let change = ItemChange(name: try ItemName(name), attributes: long(64))
      _ = try stand.items.set(change, .generated(.phrase(words: 4)), for: stand.administrator) { _ in true }
    }
    for folder in ["there", "missing"] {
      let changes = try (1...2).map {
        (
          change: ItemChange(name: try ItemName("\(folder)/\($0)"), attributes: long(2), update: true),
          value: NewValue.same
        )
      }
      do throws(BatchRefusal) {
        _ = try stand.items.set(changes, for: RoomStand.caller(990)) { _, _ in true }
        Issue.record("it was done")
      } catch { #expect(error.refusal == Self.denied && error.index == nil, "\(folder)") }
    }
  }

  @Test("that are taken back while a search is under way end it where they led, and nowhere else")
  func revokedWithinSearch() throws {
    let stand = try RoomStand.unlocked(system: true)
    let folders = ["a", "b", "c", "d"]
    for folder in folders { for number in 1...3 { try stand.set("\(folder)/\(number)") } }
    let caller = RoomStand.caller(990)
    for revoked in folders {
      for folder in folders { try Self.give(stand, "user:990", "\(folder)/*", "find") }
      let first = try stand.items.find(try Query(parsing: ""), limit: 2, after: nil, until: .max, for: caller)
      _ = try stand.access.revoke(
        try Subject(parsing: "user:990"), try ItemPattern("\(revoked)/*"), for: stand.administrator)
      let rest = try stand.items.find(
        try Query(parsing: ""), limit: 99, after: first.next, until: .max, for: caller)
      let names = (first.items + rest.items).map(\.name.text)
      let expected = folders.flatMap { folder in (1...3).map { "\(folder)/\($0)" } }
      #expect(Set(names).count == names.count)
      let before = first.items.map(\.name.text).filter { $0.hasPrefix(revoked) }
      #expect(Set(names) == Set(expected.filter { !$0.hasPrefix(revoked) } + before), "\(revoked)")
      #expect(rest.next == nil)
    }
  }

  @Test("tell who gets an item under a name") func whoMay() throws {
    let stand = try RoomStand.unlocked(system: true)
    try Self.give(stand, "unit:x.service", "iot/*", "get,watch")
    try Self.give(stand, "user:990", "**", "find")
    let told = stand.access.subjects(on: [try ItemName("iot/a")]).map { "\($0.subject) \($0.rights.names)" }
    #expect(told == ["unit:x.service [\"get\", \"watch\"]", "user:990 [\"find\"]"])
  }

  @Test("tell who gets any of many new items, once with all rights") func whoMayAny() throws {
    let stand = try RoomStand.unlocked(system: true)
    for (subject, pattern, rights) in [
      ("user:1", "a/1", "get"), ("user:1", "b/*", "find"), ("user:2", "a", "get"), ("user:3", "a/**", "watch"),
      ("user:4", "*", "get"), ("user:5", "**/2", "get"), ("user:6", "a-/*", "get"), ("user:7", "a0/*", "get"),
      ("user:8", "a", "get"), ("user:8", "a/?", "get"),
    ] { try Self.give(stand, subject, pattern, rights) }
    func told(_ names: String...) throws -> [String] {
      try stand.access.subjects(on: names.map { try ItemName($0) }).map { subject, rights in
        "\(subject) \(rights.names.joined(separator: ","))"
      }
    }
    let all = try told("b/3", "a/2", "a0/c/d", "a/1", "a-")
    #expect(
      all == ["user:1 get,find", "user:3 watch", "user:4 get", "user:5 get", "user:8 get"] && all == all.sorted())
    #expect(try told("x/1", "x/3").isEmpty && told().isEmpty)
    for name in ["b/3", "a/2", "a0/c/d", "a/1", "a-", "a0/e", "a", "a-/1"] {
      let one = Set(try told(name).map { $0.split(separator: " ")[0] })
      let among = Set(try told(name, "zz/y").map { $0.split(separator: " ")[0] })
      #expect(one == among, "\(name)")
    }
  }

  @Test("count as comparisons with the names of many new items, for whoever is told of them") func compared() throws {
    let stand = try RoomStand.unlocked(system: true)
    func changes(_ folder: String, _ count: Int) throws -> [(change: ItemChange, value: NewValue)] {
      try (0..<count).map { (ItemChange(name: try ItemName("\(folder)/\($0)")), .generated(.phrase(words: 4))) }
    }
    func isTooMuch(_ folder: String, _ count: Int, for caller: Caller) throws -> Bool {
      let new = try changes(folder, count)
      do throws(BatchRefusal) { _ = try stand.items.set(new, for: caller) { _, _ in true } } catch {
        if case .tooMuch = error.refusal { return true }
        throw error
      }
      return false
    }
    for number in 0..<200 { try Self.give(stand, "user:1", "x/**/\(number)*", "get") }
    try Self.give(stand, "user:990", "**", "set")
    #expect(try isTooMuch("x", 300, for: stand.administrator))
    #expect(try !isTooMuch("x", 150, for: stand.administrator))
    #expect(try !isTooMuch("y", 300, for: stand.administrator))
    #expect(try !isTooMuch("x/z", 300, for: RoomStand.caller(990)))
    // Long names count more than short ones, and so do long patterns with a star in the middle.
    let long = String(repeating: "n", count: 200)
    #expect(try isTooMuch("x/\(long)", 40, for: stand.administrator))
    #expect(try !isTooMuch("x/\(long)", 10, for: stand.administrator))
    for number in 0..<20 { try Self.give(stand, "user:1", "z/*\(long)\(number)", "get") }
    #expect(try isTooMuch("z/\(long)", 100, for: stand.administrator))
    #expect(try !isTooMuch("y/\(long)", 100, for: stand.administrator))
  }
}

extension Keychain {
  /// Returns the grants in the store for items of each class.
  fileprivate static func classes(of stand: RoomStand) throws -> [[GrantRecord]] {
    let keychain = try stand.vault.keychain()
    return try AccessClass.allCases.map { try keychain.grants(of: $0).filter { $0.grant != nil } }
  }
}

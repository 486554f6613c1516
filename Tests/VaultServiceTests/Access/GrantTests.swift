import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Grants") struct GrantTests {
  static let denied = Refusal.denied("you may not do this")

  static func give(
    _ stand: RoomStand, _ subject: String, _ pattern: String, _ rights: String, until: Int64? = nil
  ) throws {
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), try Rights(parsing: rights), until: until,
      for: stand.administrator)
  }

  static func isServed(_ stand: RoomStand, _ name: String, _ caller: Caller) throws(Refusal) -> Bool {
    var isServed = false
    guard let name = try? ItemName(name) else { return false }
    _ = try stand.items.get(name, for: caller) { _, _, _ in isServed = true }
    return isServed
  }

  static func found(_ stand: RoomStand, _ caller: Caller, _ query: String = "") throws -> [String] {
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
    let left = Refusal.invalidGrant("the subject still has grants; revoke them first with `vault revoke SUBJECT`")
    #expect(throws: left) {
      try stand.access.forgetConfined(try Subject(parsing: "unit:x.service"), for: stand.administrator)
    }
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
}

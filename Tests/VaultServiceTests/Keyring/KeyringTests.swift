import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The keyring") struct KeyringTests {
  @Test("keeps what programs store, with label, attributes and content type, and tells of each change") func items()
    throws
  {
    let stand = try KeyringStand()
    let path = try stand.make("first", "A label", [("user", "ana"), ("E-Mail address", "a\tb\nc")])
    #expect(try stand.value(path) == "text/plain first")
    var item = try stand.keyring.item(path, for: stand.program)
    #expect(item.label == "A label" && !item.isLocked)
    #expect(item.attributes == (try KeyringStand.attributes([("E-Mail address", "a\tb\nc"), ("user", "ana")])))
    try stand.keyring.set(KeyringStand.secret("", "x/y"), of: path, for: stand.program)
    #expect(try stand.value(path) == "x/y ")
    try stand.keyring.set(
      label: "", attributes: try KeyringStand.attributes([("", "")]), of: path, for: stand.program)
    item = try stand.keyring.item(path, for: stand.program)
    #expect(item.label == "" && item.attributes[""] == "")
    #expect(try stand.value(path) == "x/y ")
    try stand.keyring.delete(path, for: stand.program)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
    #expect(stand.take() == ["login created", "login updated", "login updated", "login deleted"])
  }

  @Test("replaces an item and keeps its path and place") func replaced() throws {
    let stand = try KeyringStand()
    let (first, second) = (try stand.make("1", "x", [("a", "1")]), try stand.make("2", "y", [("a", "1"), ("b", "2")]))
    let exact = try stand.find([("a", "1")], isExact: true).map(\.path)
    #expect(exact == [first])
    let path = try stand.keyring.make(
      "z", try KeyringStand.attributes([("a", "1")]), KeyringStand.secret("3"), in: .login, replacing: exact.first,
      for: stand.program)
    #expect(path == first)
    #expect(try stand.value(first) == "text/plain 3")
    #expect(try stand.find().map(\.path) == [first, second])
  }

  @Test("gives what a path leads to now, whatever it led to before, and remembers no name that is hidden")
  func remembered() throws {
    let settings = { () -> VaultSettings in
      var settings = VaultSettings()
      (settings.hideNames, settings.keyring.accessible) = (true, .whenUnlocked)
      return settings
    }()
    let stand = try KeyringStand(settings)
    let (first, second) = (try stand.make("first", "", [("a", "1")]), try stand.make("second", "", [("a", "2")]))
    let administrator = stand.rooms.administrator
    func name(_ path: KeyringPath) throws -> ItemName { try ItemName("secret-service/login/\(path.element)") }
    #expect(try stand.find([("a", "1")]).map(\.path) == [first])
    #expect(stand.keyring.lastName(at: first, try stand.vault.keychain()) == (try name(first)))
    #expect(try stand.value(first) == "text/plain first")
    // Another item takes its name.
    let elsewhere = try ItemName("secret-service/login/elsewhere")
    try stand.rooms.items.move(try name(first), to: elsewhere, for: administrator)
    try stand.rooms.items.move(try name(second), to: try name(first), for: administrator)
    #expect(try stand.value(first) == "text/plain first" && stand.value(second) == "text/plain second")
    _ = try stand.rooms.items.delete([elsewhere], isForGood: true, for: administrator)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(first) }
    #expect(try stand.value(second) == "text/plain second")
    stand.attendance.lock()
    #expect(stand.keyring.lastName(at: second, try stand.vault.keychain()) == nil)
    #expect(throws: KeyringFault.isLocked) { try stand.value(second) }
  }

  @Test("follows an item to another name in its collection, and no further") func moved() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let name = try ItemName("secret-service/login/\(path.element)")
    try stand.rooms.items.move(name, to: try ItemName("secret-service/login/mine"), for: stand.rooms.administrator)
    #expect(try stand.value(path) == "text/plain v")
    try stand.rooms.items.move(
      try ItemName("secret-service/login/mine"), to: try ItemName("else/where"), for: stand.rooms.administrator)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
    #expect(try stand.find().isEmpty)
    // Only the way out of the collection is a change that programs see.
    #expect(stand.take() == ["login created", "login deleted"])
  }

  @Test("tells of an item that comes into a collection from another, and what programs may know of a change")
  func told() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("Work", isStandard: false, for: stand.program)
    #expect(stand.take().contains("collections"))
    let path = try stand.make("v", "x", [("a", "1")])
    #expect(stand.take() == ["login created"])
    let name = try ItemName("secret-service/login/\(path.element)")
    let new = try ItemName("secret-service/\(made.element)/\(path.element)")
    try stand.rooms.items.move(name, to: new, for: stand.rooms.administrator)
    #expect(stand.take() == ["login deleted", "\(made.element) created"])
    let moved = KeyringPath(made, path.element)
    #expect(stand.keyring.changedItem(moved, for: stand.program)?.label == "x")
    #expect(stand.keyring.changedItem(path, for: stand.program) == nil)
    try stand.keyring.set(label: "Play", of: made, for: stand.program)
    try stand.keyring.set(label: "Mine", of: .login, for: stand.program)
    #expect(stand.take() == ["\(made.element) changed", "login changed"])
    try stand.keyring.lock(for: stand.program)
    #expect(stand.keyring.changedItem(moved, for: stand.program)?.isLocked == true)
  }

  @Test("tells of items that the owner changes, moves and deletes by their names, whichever these are")
  func named() throws {
    let stand = try KeyringStand()
    let (items, owner) = (stand.rooms.items, stand.rooms.administrator)
    let path = try stand.make("v")
    let name = try ItemName("secret-service/login/\(path.element)")
    let other = try ItemName("secret-service/login/mine")
    try items.move(name, to: other, for: owner)
    var change = ItemChange(name: other, update: true)
    change.attributes = ["a": "1"]
    _ = try items.set(change, .same, for: owner) { _ in false }
    _ = try items.delete([other], isForGood: false, for: owner)
    try items.undelete(other, for: owner)
    _ = try items.delete([other], isForGood: true, for: owner)
    // An item without a number is none for programs, wherever it lies.
    try stand.rooms.set("secret-service/login/0123456789abcdef")
    try stand.rooms.set("secret-service/0123456789abcdef/x")
    #expect(
      stand.take() == [
        "login created", "login updated", "login deleted", "login created", "login deleted",
      ])
  }

  @Test("tells of changes of shared items only those who may find them") func sharedChanges() throws {
    var settings = VaultSettings()
    settings.keyring.shares = [try ItemPattern("iot/*")]
    let stand = try KeyringStand(settings)
    let (items, owner) = (stand.rooms.items, stand.rooms.administrator)
    try stand.rooms.set("iot/lamp")
    var change = ItemChange(name: try ItemName("iot/lamp"), update: true)
    change.attributes = ["a": "1"]
    _ = try items.set(change, .same, for: owner) { _ in false }
    try stand.rooms.set("else")
    try items.move(try ItemName("iot/lamp"), to: try ItemName("iot/light"), for: owner)
    try items.move(try ItemName("iot/light"), to: try ItemName("light"), for: owner)
    try items.move(try ItemName("light"), to: try ItemName("iot/light"), for: owner)
    _ = try items.delete([try ItemName("iot/light")], isForGood: false, for: owner)
    #expect(
      stand.take() == [
        "vault created", "vault updated", "vault deleted", "vault created", "vault deleted", "vault created",
        "vault deleted",
      ])
    let path = KeyringPath(.shared, "iot_2flight")
    #expect(stand.keyring.mayLearn(of: path, stand.program))
    #expect(!stand.keyring.mayLearn(of: path, AttendanceStand.process(60, uid: 4711)))
  }

  @Test("refuses what exceeds a limit, and stores nothing") func limits() throws {
    let stand = try KeyringStand()
    #expect { try stand.make("v", String(repeating: "x", count: 65_537)) } throws: {
      if case .limitsExceeded? = $0 as? KeyringFault { true } else { false }
    }
    #expect(try stand.find().isEmpty)
  }

  @Test("keeps the session's items in memory alone, like others, over locks but not over a sleep or a restart")
  func session() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v", "x", [("a", "1")], in: .session)
    #expect(try stand.value(path) == "text/plain v")
    #expect(try stand.find([("a", "1")]).map(\.path) == [path])
    #expect(try stand.find([("a", "1")], in: .session, isExact: true).map(\.path) == [path])
    try stand.keyring.set(label: "y", attributes: nil, of: path, for: stand.program)
    try stand.keyring.set(KeyringStand.secret("w"), of: path, for: stand.program)
    #expect(try stand.keyring.item(path, for: stand.program).label == "y")
    stand.vault.lock(because: .idle)
    #expect(try stand.value(path) == "text/plain w")
    stand.vault.lock(because: .sleep)
    #expect(stand.keyring.isLocked(.session, for: stand.program))
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    try stand.rooms.unlock()
    #expect(try stand.value(path) == "text/plain w")
    // A rekey makes new keys before anybody has touched the items since the sleep.
    stand.vault.lock(because: .sleep)
    try stand.rooms.unlock()
    stand.vault.hooks.keysTaken(try #require(stand.vault.openKeychain))
    #expect(try stand.find(in: .session).map(\.path) == [path])
    let deleted = try stand.make("d", in: .session)
    try stand.keyring.delete(deleted, for: stand.program)
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(deleted) }
    try stand.restart()
    try stand.rooms.unlock()
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
    #expect(stand.take().filter { $0.hasPrefix("session") }.count == 5)
  }

  @Test("keeps the session's items out of the store, and so out of each backup") func unstored() throws {
    let stand = try KeyringStand()
    let keychain = try stand.vault.keychain()
    func stored() throws -> [String] {
      try keychain.find(Query(within: nil), limit: 16, now: 2000).items.map(\.name.text)
    }
    let passing = try stand.make("passing", in: .session)
    #expect(try stored().isEmpty && keychain.itemCount() == 0)
    let path = try stand.make("v")
    #expect(try stored() == ["secret-service/login/\(path.element)"] && keychain.itemCount() == 1)
    #expect(try stand.value(passing) == "text/plain passing")
  }

  @Test("finds what is to be replaced as it is at the end of the search", arguments: [CollectionID.login, .session])
  func overtaken(collection: CollectionID) throws {
    let stand = try KeyringStand()
    let paths = try (0..<5).map { number in
      var attributes = [(key: "a", value: "1")]
      if number > 0 { attributes.append((key: "n", value: "\(number)")) }
      return try stand.make("\(number)", "x", attributes, in: collection)
    }
    let wanted = try KeyringStand.attributes([("a", "1")])
    /// Makes the search, and something else after its first part.
    func found(_ between: () throws -> Void) throws -> [KeyringPath] {
      var search = try stand.keyring.search(wanted, in: collection, isExact: true, for: stand.program)
      let isOver = try stand.keyring.step(&search, until: 0, for: stand.program)
      #expect(!isOver)
      try between()
      while try !stand.keyring.step(&search, until: 0, for: stand.program) {}
      return search.hits.map(\.path)
    }
    func set(_ path: KeyringPath, _ attributes: KeyringAttributes) throws {
      try stand.keyring.set(label: nil, attributes: attributes, of: path, for: stand.program)
    }
    #expect(try found {} == [paths[0]])
    let other = try KeyringStand.attributes([("b", "1")])
    #expect(try found { for path in paths { try set(path, other) } } == [])
    // Nothing is replaced that is not what was searched for any more.
    #expect(throws: KeyringFault.noSuchObject) {
      try stand.keyring.make(
        "z", wanted, KeyringStand.secret("3"), in: collection, replacing: paths[0], for: stand.program)
    }
    for path in paths { try set(path, try KeyringStand.attributes([("a", "1"), ("n", "1")])) }
    #expect(try found { for path in paths { try set(path, wanted) } } == paths)
    #expect(try found { for path in paths { try stand.keyring.delete(path, for: stand.program) } } == [])
    for number in 0..<3 { try stand.make("\(number)", "x", [("a", "1"), ("n", "1")], in: collection) }
    var new: [KeyringPath] = []
    #expect(try found { new = [try stand.make("n", "x", [("a", "1")], in: collection)] } == new)
  }

  // MARK: Collections

  @Test("has collections that programs make, rename, prefer and delete, and that a restart keeps") func collections()
    throws
  {
    let stand = try KeyringStand()
    let keyring = stand.keyring
    #expect(keyring.collections == [.login, .session] && keyring.collection(alias: "default") == .login)
    let made = try keyring.makeCollection("Work", isStandard: true, for: stand.program)
    #expect(keyring.collections == [.login, made, .session] && keyring.collection(alias: "default") == made)
    #expect(try keyring.describe(made, for: stand.program).label == "Work")
    try keyring.set(label: "Play", of: made, for: stand.program)
    try keyring.set(label: "Mine", of: .login, for: stand.program)
    try stand.restart()
    // Names cannot be read before the first unlock.
    #expect(stand.keyring.collections == [.login, made, .session])
    #expect(stand.keyring.collection(alias: "default") == made)
    #expect(try stand.keyring.describe(made, for: stand.program).label == "")
    #expect(try stand.keyring.describe(.login, for: stand.program).label == "Login")
    try stand.rooms.unlock()
    #expect(try stand.keyring.describe(made, for: stand.program).label == "Play")
    #expect(try stand.keyring.describe(.login, for: stand.program).label == "Mine")
    try stand.keyring.setStandard(.login, for: stand.program)
    #expect(stand.keyring.collection(alias: "default") == .login)
    let path = try stand.make("v", in: made)
    let removal = try stand.keyring.remove(made, for: stand.program)
    while try !stand.keyring.step(removal, for: stand.program) {}
    #expect(stand.keyring.collections == [.login, .session])
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
    #expect(throws: KeyringFault.readOnly) { try stand.keyring.remove(.login, for: stand.program) }
  }

  @Test("has `login` as its default again once the default collection is deleted") func standardRemoved() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("Work", isStandard: true, for: stand.program)
    #expect(stand.keyring.collection(alias: "default") == made)
    let removal = try stand.keyring.remove(made, for: stand.program)
    while try !stand.keyring.step(removal, for: stand.program) {}
    #expect(stand.keyring.collection(alias: "default") == .login)
    try stand.restart()
    #expect(stand.keyring.collection(alias: "default") == .login)
    try stand.rooms.unlock()
    #expect(stand.keyring.collection(alias: "default") == .login)
  }

  @Test("keeps the labels of the collections of the session and of the shared items, and these collections")
  func fixed() throws {
    var settings = VaultSettings()
    settings.keyring.shares = [try ItemPattern("iot/*")]
    let stand = try KeyringStand(settings)
    for (collection, label) in [(CollectionID.session, "Session"), (CollectionID.shared, "Vault")] {
      #expect(throws: KeyringFault.readOnly) {
        try stand.keyring.set(label: "Mine", of: collection, for: stand.program)
      }
      #expect(throws: KeyringFault.readOnly) { try stand.keyring.remove(collection, for: stand.program) }
      #expect(try stand.keyring.describe(collection, for: stand.program).label == label)
      #expect(stand.keyring.has(collection))
    }
  }

  @Test("has as many collections as were made, whatever their labels, and shows these to those who may find them")
  func labels() throws {
    let stand = try KeyringStand()
    let label = String(repeating: "x", count: 4096)
    let made = try (0..<20).map { _ in
      try stand.keyring.makeCollection(label, isStandard: false, for: stand.program)
    }
    #expect(stand.keyring.collections.count == 22)
    try stand.restart()
    try stand.rooms.unlock()
    #expect(stand.keyring.collections.count == 22)
    for text in [label + "x", String(repeating: "x", count: 1 << 20)] {
      #expect { try stand.keyring.set(label: text, of: made[0], for: stand.program) } throws: {
        if case .limitsExceeded? = $0 as? KeyringFault { true } else { false }
      }
    }
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined"),
      try ItemPattern("secret-service/login/*"), Rights(.get), until: nil, for: stand.rooms.administrator)
    let seen = try stand.keyring.describe(made[0], for: confined)
    #expect(seen.label == "" && seen.created == 0)
  }

  @Test("finds an item under its new name in a large collection, too") func renamed() throws {
    let stand = try KeyringStand()
    for _ in 0..<1025 { try stand.make("v") }
    let last = try stand.make("last")
    try stand.rooms.items.move(
      try ItemName("secret-service/login/\(last.element)"), to: try ItemName("secret-service/login/chrome"),
      for: stand.rooms.administrator)
    #expect(try stand.value(last) == "text/plain last")
  }

  @Test(
    "lets a program change the secrets of items for which it has no more than the right to set, and nothing else",
    arguments: [CollectionID.login, .session])
  func mayOnlySet(in collection: CollectionID) throws {
    let stand = try KeyringStand()
    let path = try stand.make("1", "x", [("a", "1")], in: collection)
    let program = AttendanceStand.process(60, executable: "/usr/bin/setter")
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/setter"),
      try ItemPattern("secret-service/\(collection.element)/*"), try Rights(parsing: "get,set,find"), until: nil,
      for: stand.rooms.administrator)
    #expect(!stand.keyring.isLocked(collection, for: program))
    try stand.keyring.set(KeyringStand.secret("2"), of: path, for: program)
    let replaced = try stand.keyring.make(
      "x", try KeyringStand.attributes([("a", "1")]), KeyringStand.secret("3"), in: collection, replacing: path,
      for: program)
    #expect(try replaced == path && stand.value(path) == "text/plain 3")
    #expect(throws: KeyringFault.isLocked) {
      try stand.keyring.set(label: "y", attributes: nil, of: path, for: program)
    }
    #expect(try stand.keyring.item(path, for: stand.program).label == "x")
  }

  @Test("has one default collection, whichever was preferred last") func standard() throws {
    let stand = try KeyringStand()
    let first = try stand.keyring.makeCollection("1", isStandard: true, for: stand.program)
    let second = try stand.keyring.makeCollection("2", isStandard: true, for: stand.program)
    for collection in [first, .login, second, first] {
      try stand.keyring.setStandard(collection, for: stand.program)
      try stand.restart()
      #expect(stand.keyring.collection(alias: "default") == collection)
      try stand.rooms.unlock()
      #expect(stand.keyring.collection(alias: "default") == collection)
    }
  }

  @Test("learns its collections anew at an unlock, whatever the copy in the clear says") func copy() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("Work", isStandard: true, for: stand.program)
    for text in ["", "vault keyring 1\ndefault session\n", "vault keyring 1\ndefault login\n"] {
      try TextFile.replace(stand.vault.directory + "/keyring", with: text)
      try stand.restart()
      #expect(stand.keyring.collection(alias: "default") == .login)
      try stand.rooms.unlock()
      #expect(stand.keyring.collection(alias: "default") == made)
    }
  }

  // MARK: Locks

  @Test("serves items after an idle lock, and nothing after a lock that a program asked for, until the next unlock")
  func locks() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v", "x", [("a", "1")])
    stand.vault.lock(because: .idle)
    #expect(try stand.value(path) == "text/plain v")
    #expect(try stand.find([("a", "1")]).map(\.isLocked) == [false])
    try stand.rooms.unlock()
    try stand.keyring.lock(for: stand.program)
    #expect(stand.vault.state.kind == .locked)
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    #expect(try stand.find().map(\.isLocked) == [true])
    #expect(throws: KeyringFault.isLocked) { try stand.make("w") }
    #expect(stand.keyring.isLocked(.login, for: stand.program))
    try stand.rooms.unlock()
    #expect(try stand.value(path) == "text/plain v")
  }

  @Test("answers that it is locked before the first unlock, never that there is nothing") func cold() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    try stand.restart()
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    #expect(throws: KeyringFault.isLocked) { try stand.keyring.item(KeyringPath(.login, "x"), for: stand.program) }
    #expect(throws: KeyringFault.isLocked) { try stand.find() }
    #expect(!stand.keyring.serves(.item(path), stand.program))
    try stand.rooms.unlock()
    #expect(stand.keyring.serves(.item(path), stand.program))
  }

  // MARK: Shared items

  @Test("shows the items that the owner shares, after all others, and changes none of them") func shared() throws {
    var settings = VaultSettings()
    settings.keyring.shares = [try ItemPattern("iot/*"), try ItemPattern("iot/k*")]
    let stand = try KeyringStand(settings)
    for name in ["iot/key", "iot/other", "private"] { try stand.rooms.set(name) }
    // A key with a use is never shared.
    let key = ItemChange(name: try ItemName("iot/key-of-tokens"), use: .jwt)
    _ = try stand.rooms.items.set(key, .generated(.key(.hmac)), for: stand.rooms.administrator) { _ in true }
    let own = try stand.make("v")
    let hits = try stand.find()
    #expect(hits.map(\.path) == [own, KeyringPath(.shared, "iot_2fkey"), KeyringPath(.shared, "iot_2fother")])
    let path = hits[1].path
    #expect(try stand.value(path) == "text/plain; charset=utf8 *")
    #expect(try stand.keyring.item(path, for: stand.program).label == "iot/key")
    #expect(throws: KeyringFault.readOnly) { try stand.keyring.delete(path, for: stand.program) }
    #expect(throws: KeyringFault.readOnly) {
      try stand.keyring.set(label: "x", attributes: nil, of: path, for: stand.program)
    }
    #expect(throws: KeyringFault.readOnly) { try stand.make("v", in: .shared) }
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(KeyringPath(.shared, "private")) }
    // A caller who may not find them does not learn which there are.
    let stranger = AttendanceStand.process(60, uid: 4711)
    for element in ["iot_2fkey", "iot_2fnone"] {
      #expect(throws: KeyringFault.isLocked) { try stand.keyring.item(KeyringPath(.shared, element), for: stranger) }
    }
  }

  // MARK: Rights

  @Test("lends no value that is longer than the program has room for, and records nothing of it") func room() throws {
    let stand = try KeyringStand()
    for collection in [CollectionID.login, .session] {
      let path = try stand.make("secret", in: collection)
      let before = try AuditTests.told(stand.rooms).filter { $0.hasPrefix("get ") }
      func read(upTo longest: Int) throws -> (isShort: Bool, isLent: Bool) {
        var isLent = false
        let isShort = try stand.keyring.secret(path, upTo: longest, for: stand.program, Said()) { _, _ in
          isLent = true
        }
        return (isShort, isLent)
      }
      #expect(try read(upTo: 5) == (false, false))
      #expect(try AuditTests.told(stand.rooms).filter { $0.hasPrefix("get ") } == before)
      #expect(try read(upTo: 6) == (true, true))
      #expect(try AuditTests.told(stand.rooms).filter { $0.hasPrefix("get ") }.count == before.count + 1)
    }
  }

  @Test("a value that was not given is not recorded as given, though the call is answered") func unshown() throws {
    var settings = VaultSettings()
    settings.keyring.shares = [try ItemPattern("bank/*")]
    let stand = try KeyringStand(settings)
    try stand.rooms.set("bank/pin", require: .password)
    let path = try #require(try stand.find().first?.path)
    let audit = stand.vault.audit
    try audit.begin(CallTerms("a call", needs: .log, entry: .first), for: stand.program)
    #expect(throws: KeyringFault.isLocked) { try stand.value(path) }
    try audit.pass(nil, isLast: true, for: stand.program)
    #expect(try AuditTests.told(stand.rooms).filter { $0.hasPrefix("get ") } == ["get locked bank/pin"])
  }

  @Test("keeps text as a password and anything else as a blob, as the last value has it, and requires no presence")
  func kinds() throws {
    let stand = try KeyringStand()
    let path = try stand.make("text")
    func item() throws -> ItemInfo {
      try stand.vault.keychain().item(named: ItemName("secret-service/login/\(path.element)"))
    }
    func kind() throws -> ItemKind { try item().kind }
    #expect(try item().policy.require == Requirement.none)
    #expect(try kind() == .password)
    let bytes = Keyring.Secret(SecretBox(RoomStand.secret([0xFF, 0])), contentType: "application/octet-stream")
    try stand.keyring.set(bytes, of: path, for: stand.program)
    #expect(try kind() == .blob)
    try stand.keyring.set(KeyringStand.secret("text"), of: path, for: stand.program)
    #expect(try kind() == .password)
    try stand.keyring.set(KeyringStand.secret(""), of: path, for: stand.program)
    #expect(try kind() == .blob)
  }

  @Test("keeps 1,000 items of the session, and 4 MiB of them") func sessionLimits() throws {
    let stand = try KeyringStand()
    func isFull(_ error: any Error) -> Bool {
      if case .limitsExceeded? = error as? KeyringFault { true } else { false }
    }
    let paths = try (0..<1000).map { try stand.make("\($0)", in: .session) }
    #expect { try stand.make("too many", in: .session) } throws: { isFull($0) }
    try stand.keyring.set(KeyringStand.secret("new"), of: paths[7], for: stand.program)
    #expect(try stand.value(paths[7]) == "text/plain new")
    for path in paths { try stand.keyring.delete(path, for: stand.program) }
    let large = String(repeating: "v", count: 900 << 10)
    for _ in 0..<4 { try stand.make(large, in: .session) }
    #expect { try stand.make(large, in: .session) } throws: { isFull($0) }
  }

  @Test("shows a confined program's lack of rights as a lock") func confined() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    let confined = AttendanceStand.process(60, executable: "/usr/bin/confined")
    stand.rooms.access.add(.password, by: stand.rooms.administrator, with: [])
    _ = try stand.rooms.access.give(
      try Subject(parsing: "user:\(RoomStand.owner),exe:/usr/bin/confined"), try ItemPattern("else/*"),
      Rights(.get), until: nil, for: stand.rooms.administrator)
    #expect(stand.keyring.isLocked(.login, for: confined))
    #expect(throws: KeyringFault.isLocked) { try stand.value(path, for: confined) }
    #expect(try stand.find(for: confined).isEmpty)
  }
}

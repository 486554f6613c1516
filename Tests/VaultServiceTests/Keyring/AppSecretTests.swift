import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("The secret of a sandboxed program") struct AppSecretTests {
  private func secret(_ stand: KeyringStand, _ app: String) throws -> [UInt8] {
    var found: [UInt8] = []
    try stand.keyring.secret(ofApp: app, for: stand.program) { found = $0.bytes }
    return found
  }

  /// Stores an item as an import does.
  private func bring(
    _ text: String, _ attributes: [(key: String, value: String)], _ stand: KeyringStand,
    in collection: CollectionID = .login,
    order: UInt64 = 1
  ) throws {
    let id = KeyringID.random()
    let facts = KeyringFacts(id: id, order: order, label: "l", attributes: try KeyringAttributes(attributes))
    let change = ItemChange(name: try Keyring.name(of: id, in: collection), kind: .blob, keyring: facts)
    try stand.keyring.store(change, KeyringStand.secret(text), stand.program)
  }

  @Test("is made once, of 64 random bytes, with the label and the attributes of GNOME Keyring") func make() throws {
    let stand = try KeyringStand()
    let first = try secret(stand, "org.example.A")
    #expect(first.count == 64)
    #expect(try secret(stand, "org.example.A") == first)
    #expect(try secret(stand, "org.example.B") != first)
    #expect(try secret(stand, "").count == 64)
    let found = try #require(stand.vault.openKeychain).find(
      Query(keyring: try KeyringAttributes(portalApp: "org.example.A")), limit: 9, now: 0)
    let item = try #require(found.items.first)
    #expect(found.items.count == 1 && CollectionID(of: item.name) == .login && item.kind == .blob)
    #expect(item.keyring?.label == "Application key for org.example.A")
  }

  @Test(
    "is found as any version of GNOME Keyring has made it",
    arguments: [
      [(key: "app_id", value: "a")],
      [(key: "app_id", value: "a"), (key: "xdg:schema", value: "org.freedesktop.Secret.Generic")],
      [(key: "app_id", value: "a"), (key: "xdg:schema", value: "org.freedesktop.portal.Secret")],
      [
        (key: "app_id", value: "a"), (key: "other", value: "x"),
        (key: "xdg:schema", value: "org.freedesktop.portal.Secret"),
      ],
    ]) func imported(_ attributes: [(key: String, value: String)]) throws
  {
    let stand = try KeyringStand()
    try bring("imported", attributes, stand)
    #expect(try secret(stand, "a") == Array("imported".utf8))
    #expect(try secret(stand, "A").count == 64)
    #expect(try stand.find().isEmpty)
  }

  @Test("is another program's item if that has other attributes, too") func others() throws {
    let stand = try KeyringStand()
    try bring("other", [(key: "app_id", value: "a"), (key: "user", value: "u")], stand)
    try bring("other", [(key: "app_id", value: "a"), (key: "xdg:schema", value: "org.example")], stand)
    #expect(try secret(stand, "a").count == 64)
    #expect(try stand.find().count == 2)
  }

  @Test("is the first one of the collection `login`, or else of any") func several() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("mine", isStandard: true, for: stand.program)
    let attributes = [(key: "app_id", value: "a")]
    try bring("elsewhere", attributes, stand, in: made, order: 1)
    #expect(try secret(stand, "a") == Array("elsewhere".utf8))
    try bring("later", attributes, stand, order: 3)
    try bring("first", attributes, stand, order: 2)
    #expect(try secret(stand, "a") == Array("first".utf8))
  }

  @Test("is nothing that programs find, read, change, make or delete, or are told of") func hidden() throws {
    let stand = try KeyringStand()
    let (keyring, program) = (stand.keyring, stand.program)
    _ = stand.take()
    _ = try secret(stand, "a")
    #expect(stand.take().isEmpty)
    #expect(try stand.find().isEmpty)
    #expect(try stand.find([(key: "app_id", value: "a")], in: .login).isEmpty)
    let items = try #require(stand.vault.openKeychain).find(Query(within: CollectionID.login.folder), limit: 9, now: 0)
    let path = KeyringPath(.login, try #require(items.items.first?.keyring).id.text)
    #expect(throws: KeyringFault.noSuchObject) { try keyring.item(path, for: program) }
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
    #expect(throws: KeyringFault.noSuchObject) { try keyring.delete(path, for: program) }
    #expect(throws: KeyringFault.noSuchObject) {
      try keyring.set(label: "x", attributes: KeyringAttributes(), of: path, for: program)
    }
    #expect(keyring.changedItem(path, for: program) == nil)
    let attributes = try KeyringAttributes(portalApp: "b")
    #expect(throws: KeyringFault.readOnly) {
      try keyring.make(
        "planted", attributes, KeyringStand.secret("known"), in: .login, replacing: nil, for: program)
    }
    let own = try stand.make("own")
    #expect(throws: KeyringFault.readOnly) {
      try keyring.set(label: nil, attributes: attributes, of: own, for: program)
    }
    #expect(try secret(stand, "b").count == 64)
  }

  @Test("stays when its collection is deleted, and so does the collection") func collection() throws {
    let stand = try KeyringStand()
    let made = try stand.keyring.makeCollection("mine", isStandard: false, for: stand.program)
    try bring("kept", [(key: "app_id", value: "a")], stand, in: made)
    try stand.make("gone", in: made)
    let removal = try stand.keyring.remove(made, for: stand.program)
    #expect(throws: KeyringFault.readOnly) {
      while try !stand.keyring.step(removal, for: stand.program) {}
    }
    #expect(stand.keyring.has(made))
    #expect(try secret(stand, "a") == Array("kept".utf8))
    #expect(try stand.find().isEmpty)
  }

  @Test("is never made anew while nobody can tell whether there is one", arguments: [false, true])
  func unverified(hidesNames: Bool) throws {
    var settings = VaultSettings()
    settings.hideNames = hidesNames
    let stand = try KeyringStand(settings)
    let first = try secret(stand, "a")
    try stand.keyring.lock(for: stand.program)
    #expect(throws: KeyringFault.isLocked) { try secret(stand, "a") }
    #expect(throws: KeyringFault.isLocked) { try secret(stand, "b") }
    try stand.restart()
    #expect(throws: KeyringFault.isLocked) { try secret(stand, "a") }
    #expect(throws: KeyringFault.isLocked) { try secret(stand, "b") }
    try stand.rooms.unlock()
    #expect(try secret(stand, "a") == first)
    #expect(try secret(stand, "b").count == 64)
  }

  @Test("is not made anew before the check after an unlock is over, for which a wish waits") func unchecked() throws {
    let stand = try KeyringStand()
    let first = try secret(stand, "a")
    // More records than are checked before an unlock is answered.
    for number in 0..<300 { try stand.make("item \(number)") }
    try stand.restart()
    try stand.rooms.unlock()
    try #require(stand.vault.openKeychain?.isVerified == false)
    #expect(try secret(stand, "a") == first)
    #expect(throws: KeyringFault.isLocked) { try secret(stand, "b") }
    var given = 0
    var ends: [KeyringPrompt.End] = []
    try prompt(for: AppWish("b", stand.keyring) { given = $0.byteCount }, stand) { ends.append($0) }.begin()
    #expect(given == 0 && ends.isEmpty)
    stand.rooms.run()
    #expect(stand.vault.openKeychain?.isVerified == true)
    #expect(given == 64 && ends == [.fulfilled])
  }

  private func prompt(
    for wish: AppWish, _ stand: KeyringStand, completed: @escaping (KeyringPrompt.End) -> Void
  ) throws -> KeyringPrompt {
    let terms = AskedCall.Terms(
      stand.program, .untilServed, about: AskedCall.About(.get, detail: "x"),
      saying: { stand.keyring.said(for: wish) }, isStillAsking: { true })
    return try KeyringPrompt(
      .fulfill(wish), stand.keyring, stand.rooms.rooms.asking, terms, Line(of: stand.program.uid), within: nil,
      completed: completed)
  }

  @Test("is given when a wish is fulfilled, which tells no name before that") func wish() throws {
    let stand = try KeyringStand()
    let first = try secret(stand, "org.example.A")
    try stand.keyring.lock(for: stand.program)
    var given: [[UInt8]] = []
    var ends: [KeyringPrompt.End] = []
    let wish = try AppWish("org.example.A", stand.keyring) { given.append($0.bytes) }
    let prompt = try prompt(for: wish, stand) { ends.append($0) }
    prompt.begin()
    #expect(prompt.app == nil && prompt.kind == .retrieve && ends.isEmpty)
    #expect(stand.keyring.said(for: wish).purpose == "to give a sandboxed program its secret")
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(given == [first] && ends == [.fulfilled])
    #expect(prompt.app == "org.example.A")
    #expect(stand.keyring.said(for: wish).purpose == "to give the program org.example.A its secret")
  }
}

extension RawSpan {
  fileprivate var bytes: [UInt8] {
    (0..<byteCount).map { unsafe unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
  }
}

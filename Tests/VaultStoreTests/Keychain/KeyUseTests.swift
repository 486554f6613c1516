import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The use of an item's key") struct KeyUseTests {
  /// Makes the store accept as keys the values that begin with `key `, and take the rest of such a value as its public
  /// key.
  private func checking(_ keychain: Keychain) -> Keychain {
    keychain.keyCheck = { (use, value, _) throws(ValueError) in
      // For one-time codes, the kind itself checks the value.
      if use == .totp { return nil }
      let bytes = unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
      guard bytes.starts(with: "key ".utf8) else { throw ValueError(reason: "this is no key for \(use.name)") }
      return use == .mac ? nil : Array(bytes.dropFirst(4))
    }
    return keychain
  }

  private func make(
    _ text: String, _ use: KeyUse?, _ value: String = "key one", kind: ItemKind? = nil, update: Bool = false,
    in keychain: Keychain
  ) throws(VaultError) {
    let named: ItemName
    do { named = try ItemName(text) } catch { throw .invalidValue("\(error)") }
    try keychain.set(ItemChange(name: named, kind: kind, use: use, update: update), value: secret(value), now: 2000)
  }

  private func isRefused(_ body: () throws(VaultError) -> Void) -> Bool {
    do throws(VaultError) { try body() } catch { return error.isInvalidValue }
    return false
  }

  /// Returns the use of an item, and the public key that is stored with it.
  private func use(_ text: String, _ keychain: Keychain) throws -> String {
    let item = try keychain.item(named: name(text))
    let half = item.publicKey.map { String(decoding: $0, as: UTF8.self) }
    return "\(item.use?.name ?? "none"), \(half ?? "no public half")"
  }

  @Test("goes with its kind, and with a kind of its own where that has none") func kinds() throws {
    let fixture = try Fixture()
    let keychain = try checking(fixture.unlocked())
    for use in KeyUse.allCases where use.kind == nil {
      try make(use.name, use, in: keychain)
      #expect(try keychain.item(named: name(use.name)).kind == .blob)
    }
    try make("totp", .totp, "GEZDGNBV", in: keychain)
    #expect(try keychain.item(named: name("totp")).kind == .totp)
    for (text, expected) in [
      ("totp", "totp, no public half"), ("jwt", "jwt, one"), ("sign", "sign, one"), ("mac", "mac, no public half"),
    ] {
      #expect(try use(text, keychain) == expected)
    }
    try make("as kind", nil, "GEZDGNBV", kind: .totp, in: keychain)
    #expect(try use("as kind", keychain) == "totp, no public half")
    try make("note", .sign, kind: .note, in: keychain)
    #expect(try use("note", keychain) == "sign, one")
    for kind in ItemKind.allCases {
      for wanted in KeyUse.allCases where kind.use.map({ $0 != wanted }) ?? (wanted.kind != nil) {
        #expect(
          isRefused { () throws(VaultError) in try make("x", wanted, kind: kind, in: keychain) }, "\(kind) \(wanted)")
      }
    }
  }

  @Test("never changes: not by its name, not by a kind, not with another value, and not to none")
  func never() throws {
    let fixture = try Fixture()
    let keychain = try checking(fixture.unlocked())
    try make("sign", .sign, in: keychain)
    try make("totp", .totp, "GEZDGNBV", in: keychain)
    try make("none", nil, in: keychain)
    let before = try ["sign", "totp", "none"].map { try keychain.item(named: name($0)) }
    for text in ["sign", "totp", "none"] {
      let own = try keychain.item(named: name(text)).use
      for other in KeyUse.allCases where other != own {
        #expect(
          isRefused { () throws(VaultError) in try make(text, other, update: true, in: keychain) }, "\(text) \(other)")
        let change = ItemChange(name: try name(text), use: other, update: true)
        #expect(isRefused { () throws(VaultError) in try keychain.set(change, now: 2000) }, "\(text) \(other)")
        guard let kind = other.kind, own != nil else { continue }
        let byKind = ItemChange(name: try name(text), kind: kind, update: true)
        #expect(isRefused { () throws(VaultError) in try keychain.set(byKind, now: 2000) }, "\(text) \(kind)")
      }
    }
    // An item whose kind implies the use cannot get a kind without a use, either.
    #expect(isRefused { () throws(VaultError) in try make("totp", nil, kind: .note, update: true, in: keychain) })
    #expect(try ["sign", "totp", "none"].map { try keychain.item(named: name($0)) } == before)
    // The kind of a key cannot change, either.
    #expect(isRefused { () throws(VaultError) in try make("sign", nil, kind: .note, update: true, in: keychain) })
    #expect(isRefused { () throws(VaultError) in try make("sign", .sign, kind: .tlsKey, update: true, in: keychain) })
    // A change to the same use changes nothing.
    try make("sign", .sign, "key two", kind: .blob, update: true, in: keychain)
    #expect(try use("sign", keychain) == "sign, two")
    #expect(try keychain.verify().isOK)
  }

  @Test("comes with another kind to what was no key, whose value stays or not, and is there for good then")
  func becomes() throws {
    let fixture = try Fixture()
    let keychain = try checking(fixture.unlocked())
    func change(_ text: String, _ kind: ItemKind, _ use: KeyUse? = nil) throws {
      try keychain.set(ItemChange(name: name(text), kind: kind, use: use, update: true), now: 2500)
    }
    // A text in the form that the kind requires.
    let pem = "\n-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"
    try make("ssh", nil, "key one" + pem, in: keychain)
    try change("ssh", .note)
    #expect(try keychain.item(named: name("ssh")).kind == .note)
    try change("ssh", .sshKey, .ssh)
    // The public key is that of the unchanged value, and there is no new version.
    #expect(try use("ssh", keychain) == "ssh, one" + pem)
    #expect(try keychain.item(named: name("ssh")).versions.count == 1 && keychain.text("ssh") == "key one" + pem)
    try make("totp", nil, "JBSW Y3DP", in: keychain)
    try change("totp", .totp)
    #expect(try use("totp", keychain) == "totp, no public half")
    try make("new", nil, "hunter2", in: keychain)
    try make("new", nil, "key two" + pem, kind: .sshKey, update: true, in: keychain)
    #expect(try use("new", keychain) == "ssh, two" + pem)
    // An item whose value is no key cannot become one, and an item that has become a key stays one.
    try make("word", nil, "hunter 8", in: keychain)
    for kind in [ItemKind.totp, .sshKey] {
      #expect(
        isRefused { () throws(VaultError) in
          try make("word", nil, "!", kind: kind, update: true, in: keychain)
        })
      #expect(throws: VaultError.self) { try change("word", kind) }
    }
    #expect(throws: VaultError.self) { try change("word", .note, .sign) }
    #expect(throws: VaultError.self) { try change("totp", .password) }
    #expect(throws: VaultError.self) { try change("ssh", .note) }
    #expect(try keychain.item(named: name("word")).kind == .password)
    #expect(try keychain.verify().isOK)
  }

  @Test("is what every new value is checked for, and the public half is that of the current one") func values() throws {
    let fixture = try Fixture()
    let keychain = try checking(fixture.unlocked())
    try make("a", .sign, "key one", in: keychain)
    #expect(isRefused { () throws(VaultError) in try make("a", nil, "two", update: true, in: keychain) })
    #expect(isRefused { () throws(VaultError) in try make("b", .sign, "two", in: keychain) })
    try make("a", nil, "key two", update: true, in: keychain)
    #expect(try use("a", keychain) == "sign, two")
    try keychain.restoreVersion(1, of: name("a"), now: 3000)
    #expect(try use("a", keychain) == "sign, one")
    try keychain.amend(name("a"), value: secret("key four"), now: 3000)
    #expect(try use("a", keychain) == "sign, four")
    let wrong = #expect(throws: VaultError.self) { try keychain.amend(name("a"), value: secret("x"), now: 3000) }
    #expect(wrong?.isInvalidValue == true)
    // A deposit is checked, too.
    #expect(try keychain.takeIn(LeftValue("a", "key five"), now: 3000) == .stored(version: 4))
    #expect(try use("a", keychain) == "sign, five")
    let left = try keychain.takeIn(LeftValue("a", "six"), now: 3000)
    guard case .kept = left else {
      Issue.record("\(left)")
      return
    }
    #expect(try keychain.text("a") == "key five")
    // A version that is no key by today's check is not restored.
    keychain.keyCheck = { (_, value, _) throws(ValueError) in
      if value.byteCount < 8 { throw ValueError(reason: "too short today") }
      return nil
    }
    let old = #expect(throws: VaultError.self) { try keychain.restoreVersion(1, of: name("a"), now: 3000) }
    #expect(old?.isInvalidValue == true)
    // With attributes that the use does not allow, nothing is stored, and the value stays.
    keychain.keyCheck = { (_, _, attributes) throws(ValueError) in
      if attributes["max-ttl"] != nil { throw ValueError(reason: "no such attribute") }
      return nil
    }
    let change = ItemChange(name: try name("a"), attributes: ["max-ttl": "x"], update: true)
    #expect(isRefused { () throws(VaultError) in try keychain.set(change, now: 3000) })
    #expect(try keychain.item(named: name("a")).attributes.isEmpty)
  }

  @Test("stays through a new name, the trash, a class, a rekey, a backup and a salvage") func stays() throws {
    let fixture = try Fixture()
    let keychain = try checking(fixture.unlocked())
    try make("a", .jwt, in: keychain)
    try make("mac", .mac, in: keychain)
    func check(_ keychain: Keychain, _ text: String = "b") throws {
      #expect(try use(text, keychain) == "jwt, one")
      #expect(try use("mac", keychain) == "mac, no public half")
    }
    try keychain.move(from: name("a"), to: name("b"), now: 2500)
    try check(keychain)
    try keychain.trash([name("b")], now: 2500)
    #expect(try keychain.trashedItem(named: name("b"), found: TrashSearch()).use == .jwt)
    try keychain.restore(name("b"), now: 2600)
    try check(keychain)
    try keychain.set(ItemChange(name: name("b"), accessible: .afterFirstUnlock, update: true), now: 2700)
    try check(keychain)

    let backup = try BackedUp.backup(keychain)
    let target = try Fixture(create: false)
    _ = try BackedUp.restore(backup, vaultKey: fixture.vaultKey, into: target)
    let restored = try target.open()
    try restored.unlock(vaultKey: fixture.vaultKey)
    try check(restored)

    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    for _ in 0..<10_000 { if try salvage.step(items: 2) { break } }
    try check(salvage.target)

    try fixture.rekey(keychain).complete()
    try check(keychain)
    #expect(isRefused { () throws(VaultError) in try make("b", nil, "two", update: true, in: keychain) })
  }
}

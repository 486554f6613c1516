import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

@Suite struct ItemTests {
  @Test("what was set is read back, byte for byte, also after reopening")
  func roundTrip() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      #expect(try keychain.put("iothome/express.key", "s3cret", attributes: ["owner": "ana"]) == 1)
      #expect(try keychain.text("iothome/express.key") == "s3cret")
    }
    let keychain = try fixture.unlocked()
    #expect(try keychain.text("iothome/express.key") == "s3cret")
    let item = try keychain.item(named: name("iothome/express.key"))
    #expect(item.attributes == ["owner": "ana"])
    #expect(item.kind == .note)
    #expect(item.policy == Policy())
    #expect(item.created == 2000 && item.modified == 2000 && item.expires == nil)
    #expect(item.versions == [VersionInfo(number: 1, created: 2000, size: 6)])
    #expect(try keychain.itemCount() == 1)
  }

  @Test(
    "values of 0 bytes to 1 MiB are kept exactly, and one byte more is refused",
    arguments: [0, 1, 16384, 16385, 1 << 20])
  func sizes(count: Int) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let change = ItemChange(name: try name("big"), kind: .blob)
    try keychain.set(change, value: secret(bytes), now: 2000)
    #expect(try keychain.read("big") == bytes)
    let tooLarge = SecureBytes(count: 1 << 20 + 1)
    #expect(throws: VaultError.tooLarge(1 << 20)) {
      try keychain.set(ItemChange(name: name("big"), kind: .blob, update: true), value: tooLarge, now: 2000)
    }
    #expect(try keychain.read("big") == bytes)
  }

  @Test("an existing item is not replaced unless the change says update")
  func existing() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one")
    #expect(throws: VaultError.alreadyExists) { try keychain.put("a", "two") }
    #expect(try keychain.text("a") == "one")
    #expect(try keychain.put("a", "two", update: true) == 2)
    #expect(try keychain.text("a") == "two")
    #expect(try keychain.put("b", "new", update: true) == 1)
  }

  @Test("an update keeps what it leaves out, and replaces what it names")
  func partialUpdate() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one", kind: .apiKey, attributes: ["owner": "ana"], require: .userPresence, expires: 9000)
    let change = ItemChange(name: try name("a"), update: true)
    #expect(try keychain.set(change, value: secret("two"), now: 3000).number == 2)
    var item = try keychain.item(named: name("a"))
    #expect(item.kind == .apiKey && item.attributes == ["owner": "ana"] && item.expires == 9000)
    #expect(item.policy.require == .userPresence && item.created == 2000 && item.modified == 3000)

    let metadata = ItemChange(
      name: try name("a"), kind: .note, attributes: ["place": "attic"], expires: .some(nil), update: true)
    #expect(try keychain.set(metadata, now: 4000).number == 2)
    item = try keychain.item(named: name("a"))
    #expect(item.kind == .note && item.attributes == ["place": "attic"] && item.expires == nil)
    #expect(item.versions.map(\.number) == [1, 2] && item.modified == 4000)
    #expect(try keychain.text("a") == "two")
    #expect(try keychain.text("a", version: 1) == "one")
  }

  @Test("a new value takes away an expiry that has passed, and no other")
  func pastExpiry() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one", expires: 5000)
    func update(_ value: String?, expires: Int64?? = .none, now: Int64) throws -> StoredVersion {
      let change = ItemChange(name: try name("a"), expires: expires, update: true)
      guard let value else { return try keychain.set(change, now: now) }
      return try keychain.set(change, value: secret(value), now: now)
    }
    let id = try #require(try keychain.item(named: name("a")).id)
    #expect(try update("two", now: 4999) == StoredVersion(number: 2, of: id))
    #expect(try keychain.item(named: name("a")).expires == 5000)
    // A change of another property is no new value.
    #expect(try update(nil, now: 5000) == StoredVersion(number: 2, of: id))
    #expect(try keychain.item(named: name("a")).expires == 5000)
    #expect(try update("three", expires: 7000, now: 5000) == StoredVersion(number: 3, of: id))
    // The store's own newest time counts if the clock is behind it.
    try keychain.put("b", now: 7000)
    #expect(try update("four", now: 100) == StoredVersion(number: 4, of: id, pastExpiry: 7000))
    #expect(try keychain.item(named: name("a")).expires == nil)
    #expect(try keychain.text("a") == "four")
  }

  @Test("changed attributes are held against the value that stays, and where they do not fit nothing changes")
  func changedAttributes() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let (wpa, wep) = (["ssid": "home"], ["ssid": "home", "security": "WEP"])
    try keychain.put("net", "12345678", kind: .wifi, attributes: wpa)
    let change = ItemChange(name: try name("net"), attributes: wep, update: true)
    expect(\.isInvalidValue) { try keychain.set(change, now: 3000) }
    #expect(try keychain.item(named: name("net")).attributes == wpa)
    // With a value that fits the attributes, these may change.
    #expect(try keychain.set(change, value: secret("12345"), now: 3000).number == 2)
    #expect(try keychain.item(named: name("net")).attributes == wep)
  }

  /// A kept input of the fuzzer of kinds, and its own end of validity.
  private func certificate(_ kind: String) throws -> (text: String, expires: Int64?) {
    let folder = Repository.root.appending(path: "Tests/Fuzz/Corpus/KindFuzz")
    let text = try String(contentsOf: folder.appending(path: "certificate-\(kind).pem"), encoding: .utf8)
    let facts = try secret(text).withBytes { (bytes: RawSpan) throws(ValueError) in
      try ItemKind.certificate.validate(bytes, attributes: [:])
    }
    return (text, facts.expires)
  }

  @Test("a renewed certificate brings its own end of validity, unless the change names another")
  func renewedCertificate() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let (old, new) = (try certificate("utctime"), try certificate("generalizedtime"))
    #expect(old.expires != nil && new.expires != nil && old.expires != new.expires)
    func expires() throws -> Int64? { try keychain.item(named: name("a")).expires }
    try keychain.put("a", old.text, kind: .certificate)
    #expect(try expires() == old.expires)
    try keychain.put("a", new.text, kind: nil, update: true)
    #expect(try expires() == new.expires)
    // An older certificate that becomes current brings its own end, too.
    try keychain.restoreVersion(1, of: name("a"), now: 2000)
    #expect(try expires() == old.expires)
    try keychain.put("a", old.text, kind: nil, expires: 9000, update: true)
    #expect(try expires() == 9000)
  }

  @Test("an end that was set by hand stays with a new certificate, an older one, and a change of attributes")
  func endByHand() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let (old, new) = (try certificate("utctime"), try certificate("generalizedtime"))
    func expires() throws -> Int64? { try keychain.item(named: name("a")).expires }
    try keychain.put("a", old.text, kind: .certificate, expires: 9000)
    try keychain.put("a", new.text, kind: nil, update: true)
    #expect(try expires() == 9000)
    try keychain.set(ItemChange(name: try name("a"), attributes: ["owner": "ana"], update: true), now: 2000)
    #expect(try expires() == 9000)
    try keychain.restoreVersion(1, of: name("a"), now: 2000)
    #expect(try expires() == 9000)
    // So does one that never comes.
    try keychain.put("a", new.text, kind: nil, expires: .some(nil), update: true)
    try keychain.put("a", old.text, kind: nil, update: true)
    #expect(try expires() == nil)
    // A certificate that ends in the same second does not take the end over.
    let end = try #require(new.expires)
    try keychain.set(ItemChange(name: try name("a"), expires: end, update: true), now: 2000)
    try keychain.put("a", new.text, kind: nil, update: true)
    #expect(try expires() == end - 1)
    try keychain.put("a", old.text, kind: nil, update: true)
    #expect(try expires() == end - 1)
    // An end that has passed stays with an older value, and goes with a new one.
    try keychain.set(ItemChange(name: try name("a"), expires: 1500, update: true), now: 2000)
    try keychain.restoreVersion(1, of: name("a"), now: 2000)
    #expect(try expires() == 1500)
    try keychain.put("a", new.text, kind: nil, update: true, now: 2000)
    #expect(try expires() == new.expires)
  }

  @Test("the ten newest versions are kept, under their own numbers")
  func versions() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for number in 1...13 {
      #expect(try keychain.put("a", "value \(number)", update: true, now: 2000 + Int64(number)) == number)
    }
    #expect(try keychain.history(of: name("a")).map(\.number) == Array(4...13))
    #expect(try keychain.history(of: name("a")).last == VersionInfo(number: 13, created: 2013, size: 8))
    for number in 4...13 { #expect(try keychain.text("a", version: number) == "value \(number)") }
    #expect(throws: VaultError.noSuchVersion(3)) { try keychain.text("a", version: 3) }
    #expect(throws: VaultError.noSuchVersion(14)) { try keychain.text("a", version: 14) }
    #expect(try fixture.rows("vals") == 9)
  }

  @Test("of large values as many older ones are kept as have a MiB together, and a change of policy seals no more")
  func largeVersions() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    let large = String(repeating: "x", count: Keychain.maximumValue)
    for number in 1...5 { try keychain.put("a", number == 3 ? "small" : large, update: number > 1) }
    #expect(try keychain.history(of: name("a")).map(\.number) == [4, 5])
    #expect(throws: VaultError.noSuchVersion(3)) { try keychain.text("a", version: 3) }
    #expect(try fixture.rows("vals") == 1)
    let change = ItemChange(name: try name("a"), accessible: .afterFirstUnlock, update: true)
    #expect(try keychain.set(change, now: 3000).number == 5)
    for number in 4...5 { #expect(try keychain.text("a", version: number) == large) }
    try keychain.put("a", "small", update: true)
    #expect(try keychain.history(of: name("a")).map(\.number) == [5, 6])
    try keychain.put("a", "small", update: true)
    #expect(try keychain.history(of: name("a")).map(\.number) == [6, 7])
  }

  @Test("what is too much is dropped oldest first, also where a store of before has more, and never the current value")
  func surplus() {
    func surplus(_ sizes: [Int], beforeNewValue: Bool = false) -> Int {
      let versions = sizes.enumerated().map { VersionInfo(number: $0 + 1, created: 0, size: $1) }
      return Keychain.surplus(of: versions, beforeNewValue: beforeNewValue)
    }
    let mebibyte = 1 << 20
    #expect(surplus([]) == 0 && surplus([], beforeNewValue: true) == 0)
    #expect(surplus(Array(repeating: 1, count: 10)) == 0)
    #expect(surplus(Array(repeating: 1, count: 10), beforeNewValue: true) == 1)
    #expect(surplus(Array(repeating: 1, count: 13)) == 3)
    #expect(surplus(Array(repeating: mebibyte, count: 10)) == 8)
    #expect(surplus(Array(repeating: mebibyte, count: 10), beforeNewValue: true) == 9)
    #expect(surplus([mebibyte / 2, 1, mebibyte / 2 - 1, mebibyte]) == 0)
    #expect(surplus([mebibyte / 2 + 1, mebibyte / 2, mebibyte]) == 1)
    // A version that is too large removes the older ones as well.
    #expect(surplus([1, 1, 2 * mebibyte, 1, 1]) == 3)
    #expect(surplus([1, 3 * mebibyte]) == 0 && surplus([1, 3 * mebibyte], beforeNewValue: true) == 1)
    #expect(surplus([1, .max, .max, 1]) == 3)
  }

  @Test("a deleted item leaves no row behind, and its name is free")
  func delete() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a/b", "one", attributes: ["k": "v"])
    try keychain.put("a/b", "two", update: true)
    try keychain.delete([name("a/b"), name("a/b")])
    #expect(throws: VaultError.noSuchItem) { try keychain.text("a/b") }
    #expect(throws: VaultError.noSuchItem) { try keychain.delete([name("a/b")]) }
    for table in ["heads", "vals", "tags"] { #expect(try fixture.rows(table) == 0) }
    #expect(try keychain.itemCount() == 0)
    #expect(try keychain.put("a/b", "three") == 1)
    #expect(try keychain.history(of: name("a/b")).count == 1)
  }

  @Test("deleting many deletes all of them or, when one is not there, none")
  func deleteMany() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for text in ["a", "b", "c"] { try keychain.put(text) }
    #expect(throws: VaultError.noSuchItem) { try keychain.delete([name("a"), name("b"), name("nobody")]) }
    #expect(try keychain.names("") == ["a", "b", "c"])
    try keychain.delete([name("a"), name("c")])
    #expect(try keychain.names("") == ["b"])
  }

  @Test("a renamed item keeps its versions and attributes and is found under its new name and folder alone")
  func move() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("old/place", "one", attributes: ["k": "v"])
    try keychain.put("old/place", "two", update: true)
    try keychain.put("taken")
    #expect(throws: VaultError.alreadyExists) { try keychain.move(from: name("old/place"), to: name("taken"), now: 1) }
    #expect(throws: VaultError.alreadyExists) { try keychain.move(from: name("taken"), to: name("taken"), now: 1) }
    #expect(throws: VaultError.noSuchItem) { try keychain.move(from: name("nobody"), to: name("free"), now: 1) }
    try keychain.move(from: name("old/place"), to: name("new/home"), now: 3000)
    #expect(throws: VaultError.noSuchItem) { try keychain.text("old/place") }
    #expect(try keychain.text("new/home") == "two")
    #expect(try keychain.text("new/home", version: 1) == "one")
    #expect(try keychain.names("name~old/*").isEmpty)
    #expect(try keychain.names("name~new/*") == ["new/home"])
    #expect(try keychain.names("k=v") == ["new/home"])
  }

  @Test("what does not fit its kind or the limits is refused, and nothing is stored")
  func invalid() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    expect(\.isInvalidValue) { try keychain.put("a", "not a certificate", kind: .certificate) }
    expect(\.isInvalidValue) { try keychain.put("a", attributes: ["": "x"]) }
    expect(\.isInvalidValue) { try keychain.set(ItemChange(name: name("a")), now: 1) }
    try keychain.put("b", "not a certificate")
    let change = ItemChange(name: try name("b"), kind: .certificate, update: true)
    expect(\.isInvalidValue) { try keychain.set(change, now: 1) }
    #expect(try keychain.names("") == ["b"])
    #expect(try keychain.item(named: name("b")).kind == .note)
  }

  @Test("a value can be read while another is lent")
  func nested() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one")
    try keychain.put("b", "two")
    try keychain.withValue(of: name("a"), now: 2000) { (_, _, outer: RawSpan) in
      #expect((try? keychain.text("b")) == "two")
      #expect(unsafe outer.withUnsafeBytes { unsafe Array($0) } == Array("one".utf8))
    }
  }
}

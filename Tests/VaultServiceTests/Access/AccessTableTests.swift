import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

/// A call that acts on an item, and its needs.
struct AccessCase: CustomTestStringConvertible, Sendable {
  let name: String
  /// All rights that the call needs; each of them is necessary.
  let needs: [Right]
  /// True if the call must also meet the item's own requirement.
  let needsProof: Bool
  /// The item that the call acts on.
  let item: String
  let call: @Sendable (Items, ItemName, Caller) throws -> Void

  var testDescription: String { name }

  private init(
    _ name: String, _ needs: [Right], proof: Bool, on item: String = "note",
    _ call: @escaping @Sendable (Items, ItemName, Caller) throws -> Void
  ) {
    (self.name, self.needs, needsProof, self.item, self.call) = (name, needs, proof, item, call)
  }

  private static func change(_ name: ItemName, _ body: (inout ItemChange) -> Void) -> ItemChange {
    var change = ItemChange(name: name, update: true)
    body(&change)
    return change
  }

  private static func set(
    _ items: Items, _ name: ItemName, _ caller: Caller, _ value: NewValue = .same,
    _ body: (inout ItemChange) -> Void = { _ in }
  ) throws {
    _ = try items.set(change(name, body), value, for: caller) { bytes in
      bytes.storeBytes(of: 42, as: UInt8.self)
      return true
    }
  }

  private static func used(_ wait: Wait?) throws { try #require(try wait.orRefused() == nil) }

  private static let message: [UInt8] = [1]

  static let all = [
    AccessCase("get", [.get], proof: true) { try used($0.get($1, for: $2) { _, _, _ in }) },
    AccessCase("get an older version", [.get], proof: true) {
      try used($0.get($1, version: 1, for: $2) { _, _, _ in })
    },
    AccessCase("item", [.find], proof: false) { _ = try $0.item($1, for: $2) },
    AccessCase("set the value", [.set], proof: false) { try set($0, $1, $2, .bytes(count: 1)) },
    AccessCase("set what it requires", [.set, .admin], proof: true) {
      try set($0, $1, $2) { $0.require = .some(.none) }
    },
    AccessCase("set how long a proof counts", [.set, .admin], proof: true) {
      try set($0, $1, $2) { $0.reuseWindow = 300 }
    },
    AccessCase("set its class", [.set, .admin], proof: true) { try set($0, $1, $2) { $0.accessible = .always } },
    AccessCase("set attributes", [.set, .admin], proof: false) { try set($0, $1, $2) { $0.attributes = ["a": "b"] } },
    AccessCase("set the kind", [.set, .admin], proof: true) { try set($0, $1, $2) { $0.kind = .blob } },
    AccessCase("set the expiry", [.set, .admin], proof: false) { try set($0, $1, $2) { $0.expires = .some(9999) } },
    AccessCase("set many", [.set], proof: false) { items, name, caller in
      do throws(BatchRefusal) {
        _ = try items.set([(ItemChange(name: name, update: true), NewValue.same)], for: caller) { _, _ in true }
      } catch { throw error.refusal }
    },
    AccessCase("set what many require", [.set, .admin], proof: true) { items, name, caller in
      let changes = [(change: change(name) { $0.require = .some(.none) }, value: NewValue.same)]
      do throws(BatchRefusal) { _ = try items.set(changes, for: caller) { _, _ in true } } catch { throw error.refusal }
    },
    AccessCase("move", [.admin], proof: false) { try $0.move($1, to: try ItemName("other"), for: $2) },
    AccessCase("restore version", [.admin, .get], proof: true) { _ = try $0.restoreVersion(1, of: $1, for: $2) },
    AccessCase("copy", [.get, .set], proof: true) {
      _ = try $0.copy($1, to: try ItemName("copy"), replacing: false, evenExpired: false, for: $2)
    },
    AccessCase("replace by a copy", [.get, .set, .admin], proof: true) {
      _ = try $0.copy(try ItemName("open"), to: $1, replacing: true, evenExpired: false, for: $2)
    },
    AccessCase("delete", [.admin], proof: false) { _ = try $0.delete([$1], isForGood: false, for: $2) },
    AccessCase("delete for good", [.admin], proof: false) { _ = try $0.delete([$1], isForGood: true, for: $2) },
    AccessCase("undelete", [.admin], proof: false, on: "gone") { try $0.undelete($1, for: $2) },
    AccessCase("receipt", [.watch], proof: false) {
      try $0.receipt(1, of: $1, succeeded: true, detail: nil, for: $2)
    },
    AccessCase("code", [.use], proof: true, on: "totp") { try used($0.code($1, for: $2) { _ in }) },
    AccessCase("sign", [.use], proof: true, on: "sign") {
      try used($0.sign(Reading($1, for: $2), RoomStand.secret(message), nil) { _ in })
    },
    AccessCase("keyed hash", [.use], proof: true, on: "mac") {
      try used($0.mac(Reading($1, for: $2), RoomStand.secret(message), nil, comparing: nil) { _ in })
    },
    AccessCase("issue", [.use], proof: true, on: "jwt") {
      try used($0.issue($1, WantedToken(subject: nil, lifetime: nil, claims: nil), for: $2) { _ in })
    },
    AccessCase("verify", [.use], proof: true, on: "jwt") {
      try used($0.verify(RoomStand.secret(message), of: $1, for: $2) { _ in })
    },
    AccessCase("revoke", [.set], proof: false, on: "jwt") {
      _ = try $0.revoke(.one(String(repeating: "0a", count: 16)), of: $1, for: $2)
    },
  ]

  /// Makes a machine's vault with the items of all cases, which require the password; `open`, which requires nothing;
  /// and `gone`, in the trash.
  static func stand(_ settings: VaultSettings = VaultSettings()) throws -> RoomStand {
    let stand = try RoomStand.unlocked(settings, system: true)
    for value in ["one", "two"] {
      var change = ItemChange(name: try ItemName("note"), kind: .note, update: value == "two")
      if value == "one" { change.require = .password }
      _ = try stand.items.set(change, .bytes(count: 3), for: stand.administrator) {
        $0.copy(unsafe Array(value.utf8).span.bytes)
        return true
      }
      // The second value changes no policy.
    }
    try stand.set("open")
    try stand.set("gone", require: .password)
    _ = try stand.items.delete([try ItemName("gone")], isForGood: false, for: stand.administrator)
    try stand.set("totp", require: .password, kind: .totp, "MY")
    for (name, use, recipe) in [("sign", .sign, .ed25519), ("mac", .mac, .hmac), ("jwt", .jwt, .hmac)]
      as [(String, KeyUse, KeyRecipe)]
    {
      var change = ItemChange(name: try ItemName(name), use: use)
      change.require = .password
      _ = try stand.items.set(change, .generated(.key(recipe)), for: stand.administrator) { _ in true }
    }
    return stand
  }
}

@Suite("Every call against an item that requires a person, with each right alone") struct AccessTableTests {
  private let caller = RoomStand.caller(990)

  /// Gives the caller these rights on everything, and no others.
  private func give(_ stand: RoomStand, _ rights: Rights) throws {
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("**"), rights, until: nil, for: stand.administrator)
  }

  /// Returns all facts of the items except their values.
  private func state(_ stand: RoomStand) throws -> [String] {
    let query = try Query(parsing: "")
    let found = try stand.items.find(query, limit: 100, after: nil, until: .max, for: stand.administrator).items
    return found.map { "\($0.name.text) \($0.policy) \($0.attributes) \($0.kind) \($0.versions.map(\.number))" }
      .sorted()
  }

  @Test(
    "is refused without any of the rights that it needs, and without the proof, and changes nothing then",
    arguments: AccessCase.all)
  func needs(_ one: AccessCase) throws {
    let stand = try AccessCase.stand()
    let name = try ItemName(one.item)
    let before = try state(stand)
    for right in one.needs {
      // A program's grant cannot have a right without the rights that this one includes; the decision still asks for
      // each of them.
      try give(stand, Rights(rawValue: Rights.all.rawValue & ~(1 << (right.rawValue - 1))))
      stand.access.add(.password, by: caller, with: [])
      #expect(throws: Refusal.denied("you may not do this"), "without \(right.name)") {
        try one.call(stand.items, name, caller)
      }
      #expect(try state(stand) == before)
    }
    stand.vault.lock(because: .asked)
    try stand.unlock()
    try give(stand, Rights(rawValue: one.needs.reduce(0) { $0 | 1 << ($1.rawValue - 1) }))
    if one.needsProof {
      for weaker in [nil, .presence, .biometry] as [Authorizations.Evidence?] {
        if let weaker { stand.access.add(weaker, by: caller, with: []) }
        #expect(throws: Refusal.presenceRequired(one.item, .password)) { try one.call(stand.items, name, caller) }
      }
      stand.access.add(.password, by: RoomStand.caller(990, session: 200), with: [])
      #expect(throws: Refusal.presenceRequired(one.item, .password)) { try one.call(stand.items, name, caller) }
      #expect(try state(stand) == before)
      stand.access.add(.password, by: caller, with: [])
    }
    try one.call(stand.items, name, caller)
  }

  @Test("a receipt is of a version that there is, or was") func receipt() throws {
    let stand = try AccessCase.stand()
    let name = try ItemName("note")
    func receipt(_ version: Int) throws(Refusal) {
      try stand.items.receipt(version, of: name, succeeded: true, detail: nil, for: stand.administrator)
    }
    for version in [0, 3, .max] { #expect(throws: Refusal.invalid("version")) { try receipt(version) } }
    for version in [1, 2] { try receipt(version) }
  }

  @Test("a key is used for what it was made for alone, by whatever call") func otherUses() throws {
    let stand = try AccessCase.stand()
    stand.access.add(.password, by: stand.administrator, with: [])
    let uses = ["totp", "sign", "mac", "jwt"]
    for one in AccessCase.all where one.needs == [.use] {
      for item in uses + ["note"] {
        var refusal: Refusal?
        do { try one.call(stand.items, try ItemName(item), stand.administrator) } catch { refusal = error as? Refusal }
        switch refusal {
        case nil: #expect(item == one.item, "\(one.name) of \(item)")
        case .wrongUse, .wrongKind: #expect(item != one.item, "\(one.name) of \(item)")
        default: Issue.record("\(one.name) of \(item): \(String(describing: refusal))")
        }
      }
    }
  }

  @Test(
    "has its entry on the disk when it returns, where that is required, so that a kill right after it loses none",
    arguments: AccessCase.all)
  func killed(_ one: AccessCase) throws {
    var settings = VaultSettings()
    settings.audit.mode = .required
    let stand = try AccessCase.stand(settings)
    let administrator = stand.administrator
    let name = try ItemName(one.item)
    stand.access.add(.password, by: administrator, with: [])
    /// Returns the log as a kill leaves it, without the later unlock and reading that the log also records.
    func left() throws -> [String] { try AuditTests.told(stand.afterKill()).dropLast(2) }
    for isAllowed in [false, true] {
      let known = try left()
      try? one.call(stand.items, name, isAllowed ? administrator : caller)
      let told = try left()
      #expect(told.count > known.count && told.prefix(known.count) == known[...], "\(isAllowed): \(told)")
      let new = told.dropFirst(known.count)
      #expect(new.contains { $0.contains(isAllowed ? " ok " : " denied ") }, "\(isAllowed): \(new)")
    }
  }
}

extension RoomStand {
  /// Makes the vault that a daemon finds if it starts right after this one was killed, unlocked.
  func afterKill() throws -> RoomStand {
    let files = vault.directory
    let next = try RoomStand(vault.settings, system: access.terms.isSystem) { store in
      try FileManager.default.copyItem(atPath: files, toPath: store)
      try? FileManager.default.removeItem(atPath: store + "/vault.lock")
    }
    try next.unlock()
    return next
  }
}

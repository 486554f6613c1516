import Testing
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("A change that is prepared in parts") struct LongChangeTests {
  private let stand: RoomStand
  private let change: ItemChange

  init() throws {
    stand = try RoomStand.unlocked(system: true)
    change = ItemChange(name: try ItemName("long"), accessible: .afterFirstUnlock, update: true)
    try stand.set("long", kind: .note, String(repeating: "x", count: 700_000))
  }

  private func prepare(_ value: NewValue, for caller: Caller) -> Bool {
    stand.items.prepare(.set(change, value), LongChange(), for: caller)
  }

  @Test("is prepared for whoever may make it, and for nobody else") func allowed() {
    #expect(prepare(.same, for: stand.administrator))
    #expect(!prepare(.same, for: RoomStand.caller(990)))
    #expect(!prepare(.wrong("it is no value"), for: stand.administrator))
    stand.vault.lock(because: .asked)
    #expect(!prepare(.same, for: stand.administrator))
  }

  /// The changes of the item beside what is set.
  static let works: [@Sendable () throws -> ItemWork] = [
    { .move(try ItemName("long"), to: try ItemName("new")) },
    { .restoreVersion(1, of: try ItemName("long")) },
    { .delete([try ItemName("long")], isForGood: false) },
    { .undelete(try ItemName("gone")) },
    { .copy(try ItemName("source"), to: try ItemName("long"), replacing: true) },
  ]

  /// Puts the rest in place that the works need.
  private func prepareOthers() throws {
    try stand.set("source", kind: .note, "short")
    try stand.set("gone", kind: .note, String(repeating: "y", count: 700_000))
    _ = try stand.items.delete([ItemName("gone")], isForGood: false, for: stand.administrator)
  }

  @Test("is prepared for whoever may do it, and nothing is sealed for anybody else", arguments: works.indices)
  func others(_ index: Int) throws {
    try prepareOthers()
    let work = try Self.works[index]()
    let refused = LongChange()
    // Neither one without rights, nor one that may do it elsewhere, nor one that may do less.
    for (subject, pattern, rights) in [("user:990", "elsewhere/*", "admin"), ("user:991", "**", "get")] {
      _ = try stand.access.give(
        Subject(parsing: subject), ItemPattern(pattern), Rights(parsing: rights), until: nil, for: stand.administrator)
    }
    for uid: UInt32 in [989, 990, 991] {
      #expect(!stand.items.prepare(work, refused, for: RoomStand.caller(uid)), "\(uid)")
    }
    #expect(refused.ahead.count == 0)
    let long = LongChange()
    #expect(stand.items.prepare(work, long, for: stand.administrator) && long.ahead.count == 1)
    stand.vault.lock(because: .asked)
    #expect(!stand.items.prepare(work, LongChange(), for: stand.administrator))
  }

  @Test("is done with what was prepared", arguments: works.indices) func done(_ index: Int) throws {
    try prepareOthers()
    let work = try Self.works[index]()
    let long = LongChange()
    while stand.items.prepare(work, long, for: stand.administrator) {}
    #expect(long.ahead.count == 1)
    let caller = stand.administrator
    switch work {
    case .set: Issue.record("it is tested below")
    case .move(let name, let new): try stand.items.move(name, to: new, long, for: caller)
    case .restoreVersion(let number, let name):
      _ = try stand.items.restoreVersion(number, of: name, long, for: caller)
    case .delete(let names, let isForGood):
      _ = try stand.items.delete(names, isForGood: isForGood, long, for: caller)
    case .undelete(let name): try stand.items.undelete(name, long, for: caller)
    case .copy(let source, let target, let replacing):
      _ = try stand.items.copy(source, to: target, replacing: replacing, evenExpired: false, long, for: caller)
    }
    #expect(long.ahead.count == 0)
  }

  @Test("has its new value taken once where nothing changes in between, and from nobody who may not store it")
  func newValue() throws {
    let size = 500_000
    var taken = 0
    let fill = { (bytes: inout MutableRawSpan) -> Bool in
      taken += 1
      for offset in 0..<size { bytes.storeBytes(of: 0x61, toByteOffset: offset, as: UInt8.self) }
      return true
    }
    for (text, changes) in [("long", 0), ("other", 0), ("long", 1)] {
      let change = ItemChange(name: try ItemName(text), kind: .note, update: true)
      let (value, long) = (NewValue.bytes(count: size), LongChange())
      taken = 0
      #expect(!stand.items.prepare(.set(change, value), long, for: RoomStand.caller(990), fill: fill) && taken == 0)
      while stand.items.prepare(.set(change, value), long, for: stand.administrator, fill: fill) {}
      #expect(taken == 1)
      for _ in 0..<changes {
        try stand.vault.keychain().set(change, value: RoomStand.secret(Array("between".utf8)), now: 1)
      }
      _ = try stand.items.set(change, value, long, for: stand.administrator, fill: fill)
      #expect(taken == 1 + changes)
      let stored = try stand.vault.keychain().withValue(of: change.name, now: 1) { $2.array }
      #expect(stored == [UInt8](repeating: 0x61, count: size))
    }
  }

  @Test("is not prepared where items are deleted for good") func forGood() throws {
    let work = ItemWork.delete([try ItemName("long")], isForGood: true)
    #expect(!stand.items.prepare(work, LongChange(), for: stand.administrator))
  }

  @Test("is made with what was prepared") func made() throws {
    let long = LongChange()
    var parts = 0
    while stand.items.prepare(.set(change, .same), long, for: stand.administrator) { parts += 1 }
    #expect(parts == 1 && long.ahead.count == 1)
    let stored = try stand.items.set(change, .same, long, for: stand.administrator) { _ in false }
    #expect(stored.number == 1)
    let item = try stand.vault.keychain().item(named: change.name)
    #expect(item.policy.accessible == .afterFirstUnlock)
    #expect(long.ahead.count == 0)
  }
}

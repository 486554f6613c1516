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
    stand.items.prepare(change, value, LongChange(), for: caller)
  }

  @Test("is prepared for whoever may make it, and for nobody else") func allowed() {
    #expect(prepare(.same, for: stand.administrator))
    #expect(!prepare(.same, for: RoomStand.caller(990)))
    #expect(!prepare(.wrong("it is no value"), for: stand.administrator))
    stand.vault.lock(because: .asked)
    #expect(!prepare(.same, for: stand.administrator))
  }

  @Test("is made with what was prepared") func made() throws {
    let long = LongChange()
    var parts = 0
    while stand.items.prepare(change, .same, long, for: stand.administrator) { parts += 1 }
    #expect(parts == 1 && long.ahead.count == 1)
    let stored = try stand.items.set(change, .same, long, for: stand.administrator) { _ in false }
    #expect(stored.number == 1)
    let item = try stand.vault.keychain().item(named: change.name)
    #expect(item.policy.accessible == .afterFirstUnlock)
    #expect(long.ahead.count == 0)
  }
}

import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("An agent of a user who has a slot of the machine's vault, and does not administer it") struct SlotUserTests {
  private let stand: AttendanceStand
  private let agent: AttendanceStand.Listener
  private let process = AttendanceStand.process(10, uid: 990)

  init() throws {
    stand = try AttendanceStand(system: true)
    try stand.rooms.addSlot(for: [990])
    try stand.rooms.set("a", require: .password)
    try GrantTests.give(stand.rooms, "user:990", "a", "get,find")
    agent = try stand.attend(process)
    #expect(agent.take() == ["attending"])
  }

  @Test("dismisses no inquiry that the user may no longer answer", arguments: [false, true])
  func lostRight(isUnable: Bool) throws {
    let call = try stand.askPresence("a", AttendanceStand.process(50, uid: 990))
    stand.turn()
    #expect(agent.take() == ["presence a 1"])
    let number = try #require(agent.numbers.last)
    _ = try stand.rooms.access.revoke(try Subject(parsing: "user:990"), nil, for: stand.rooms.administrator)
    #expect(throws: Refusal.denied("this process was not asked")) {
      try stand.attendance.dismiss(number, isUnable: isUnable, for: process)
    }
    #expect(call.end == nil && !agent.isRefused)
    try GrantTests.give(stand.rooms, "user:990", "a", "get,find")
    try stand.attendance.dismiss(number, isUnable: isUnable, for: process)
    let end: Waiter.End = isUnable ? .nobody : .dismissed
    #expect(call.end == end)
  }

  @Test("is told of the vault's state, and neither of a failed unlock nor of a failed check") func notices() throws {
    let administrator = try stand.attend(AttendanceStand.process(11, uid: 0))
    #expect(administrator.take() == ["attending"])
    stand.vault.hooks.unlockFailed(AttendanceStand.process(70, uid: 991))
    stand.attendance.happened(.integrityFailed("a record is missing"))
    #expect(administrator.take() == ["notice failed-unlock 991", "notice integrity a record is missing"])
    #expect(agent.take() == [])
    stand.lock()
    #expect(agent.take() == ["notice locked"])
  }
}

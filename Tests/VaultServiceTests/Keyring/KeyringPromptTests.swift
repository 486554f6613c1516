import Testing
import VaultModel

@testable import VaultService

@Suite("A prompt of the keyring") struct KeyringPromptTests {
  /// A prompt of a program, and its ends so far.
  private final class Prompted {
    private(set) var ends: [KeyringPrompt.End] = []
    private(set) var prompt: KeyringPrompt?
    var isConnected = true

    init(_ stand: KeyringStand, _ task: KeyringPrompt.Task, _ patience: Patience = .anyway(until: nil)) {
      let terms = AskedCall.Terms(
        stand.program, patience, about: AskedCall.About(.find, detail: "keyring prompt"),
        saying: { Said(purpose: "to unlock the keyring") }, isStillAsking: { [unowned self] in isConnected })
      prompt = KeyringPrompt(
        task, stand.keyring, stand.rooms.rooms.asking, terms, Line(of: stand.program.uid)
      ) { [unowned self] in ends.append($0) }
    }

    func begin() { prompt?.begin() }
  }

  @Test("ends at once if the program lacks nothing any more") func nothing() throws {
    let stand = try KeyringStand()
    let prompted = Prompted(stand, .unlock([.collection(.login)]))
    #expect(prompted.ends.isEmpty)
    prompted.begin()
    #expect(prompted.ends == [.unlocked([.collection(.login)])])
  }

  @Test("waits without an agent and without an end, and ends with an unlock by any way") func unlock() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    try stand.keyring.lock(for: stand.program)
    let targets = [KeyringTarget.item(path), .collection(.login), .item(KeyringPath(.login, "0123456789abcdef"))]
    let prompted = Prompted(stand, .unlock(targets))
    prompted.begin()
    stand.rooms.hands.pass(seconds: 86_400)
    stand.rooms.run()
    #expect(prompted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked(Array(targets.prefix(2)))])
  }

  @Test("stays open when a person puts the question off, and the person is asked again by the next agent")
  func putOff() throws {
    let stand = try KeyringStand()
    stand.attendance.lock()
    try stand.keyring.lock(for: stand.program)
    let agent = try stand.attendance.attend()
    let prompted = Prompted(stand, .unlock([.collection(.login)]))
    prompted.begin()
    stand.rooms.hands.pass(seconds: 1)
    stand.rooms.run()
    let number = try #require(agent.numbers.last)
    try stand.attendance.attendance.dismiss(number, isUnable: false, for: try #require(agent.agent).caller)
    stand.rooms.hands.pass(seconds: 600)
    stand.rooms.run()
    #expect(prompted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.unlocked([.collection(.login)])])
  }

  @Test("ends once as dismissed if the program drops it, and asks nobody any more") func dropped() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let prompted = Prompted(stand, .unlock([.collection(.login)]))
    prompted.begin()
    prompted.prompt?.dismiss()
    prompted.prompt?.dismiss()
    #expect(prompted.ends == [.dismissed])
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(prompted.ends == [.dismissed])
  }

  @Test("ends as dismissed at its own time limit, if it has one") func late() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let end = stand.vault.clock.monotonic() + 120_000_000_000
    let prompted = Prompted(stand, .unlock([.collection(.login)]), .anyway(until: end))
    prompted.begin()
    stand.rooms.hands.pass(seconds: 119)
    #expect(prompted.ends.isEmpty)
    stand.rooms.hands.pass(seconds: 2)
    #expect(prompted.ends == [.dismissed])
  }

  @Test("makes a collection, or deletes an item, once the vault is unlocked") func tasks() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v")
    try stand.keyring.lock(for: stand.program)
    let (made, deleted) = (
      Prompted(stand, .makeCollection(label: "Work", isStandard: true)), Prompted(stand, .delete(path))
    )
    made.begin()
    deleted.begin()
    #expect(made.ends.isEmpty && deleted.ends.isEmpty)
    try stand.rooms.unlock()
    stand.rooms.run()
    guard case .made(let collection)? = made.ends.first else {
      Issue.record("no collection was made: \(made.ends)")
      return
    }
    #expect(stand.keyring.collection(alias: "default") == collection)
    #expect(deleted.ends == [.deleted])
    #expect(throws: KeyringFault.noSuchObject) { try stand.value(path) }
  }

  @Test("of many programs is one question, which one unlock answers for all") func many() throws {
    let stand = try KeyringStand()
    try stand.keyring.lock(for: stand.program)
    let all = (0..<8).map { _ in Prompted(stand, .unlock([.collection(.login)])) }
    for prompted in all { prompted.begin() }
    try stand.rooms.unlock()
    stand.rooms.run()
    #expect(all.allSatisfy { $0.ends == [.unlocked([.collection(.login)])] })
  }
}

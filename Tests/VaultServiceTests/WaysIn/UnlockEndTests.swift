import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("What ends an unlock that has opened the vault") struct UnlockEndTests {
  /// A person who is asked, and the messages that they got.
  private final class Person: Prompter {
    let caller: Caller
    let isPresent = true
    private(set) var conversation: Conversation?
    private(set) var told: [String] = []

    init(_ caller: Caller) { self.caller = caller }

    func begin(_ conversation: Conversation) { self.conversation = conversation }
    func show(_: Prompt) {}
    func end() {}
    func finish(_ result: ConversationResult) { told.append("\(result)") }
    func refuse(_ refusal: Refusal) { told.append("\(refusal)") }
  }

  /// A vault that a person has unlocked, who waits for the answer while deposits are taken in.
  private struct Scene {
    let stand: RoomStand
    let code: SecretBox
    let person: Person

    init() throws {
      code = SecretBox(RecoveryCode.random().text())
      stand = try RoomStand.unlocked(system: true, code: code)
      person = Person(stand.administrator)
      _ = try stand.access.give(
        try Subject(parsing: "user:990"), try ItemPattern("own/*"), try Rights(parsing: "deposit,set"), until: nil,
        for: stand.administrator)
      stand.vault.lock(because: .asked)
      for number in 0..<3 {
        _ = try stand.items.deposit(
          try ItemName("own/\(number)"), kind: nil, attributes: nil, accessible: nil, count: 1,
          for: RoomStand.caller(990), Said()
        ) { out in
          out.storeBytes(of: 1, toByteOffset: 0, as: UInt8.self)
          return true
        }
      }
      stand.hands.stride.value = DepositWork.part
      stand.rooms.waysIn.unlock("recovery", for: 60, Said(), person)
      try type(person)
      #expect(stand.vault.state.kind == .unlocked && person.told.isEmpty && person.conversation?.isOver == false)
    }

    /// Types the recovery code as a person.
    func type(_ person: Person) throws {
      let conversation = try #require(person.conversation)
      let typed = code.bytes.withBytes { SecureBytes(copying: $0) }
      let isTaken = conversation.answer(typed, to: nil)
      #expect(isTaken)
    }

    /// Returns the entries of unlocks, after one more unlock that makes the log readable.
    func unlocks() throws -> [String] {
      stand.hands.stride.value = 0
      try stand.unlock()
      stand.run()
      return try AuditTests.told(stand).filter { $0.hasPrefix("unlock") }
    }
  }

  /// The first unlock, the person's unlock, and the unlock before the log was read.
  private static let entries = ["unlock ok by `vault lock`", "unlock ok by recovery code", "unlock ok by `vault lock`"]

  @Test("its last deposit, after which its caller is told, and one entry says so") func taken() throws {
    let scene = try Scene()
    scene.stand.run()
    #expect(scene.person.told == ["done"])
    #expect(try scene.unlocks() == Self.entries)
  }

  @Test("a lock: its caller is told that it was done, and no entry says that it was cancelled") func lock() throws {
    let scene = try Scene()
    scene.stand.vault.lock(because: .asked)
    #expect(scene.person.told == ["done"] && scene.stand.vault.state.kind == .locked)
    #expect(try scene.unlocks() == Self.entries)
    #expect(scene.person.told == ["done"])
  }

  @Test("its caller's leaving, of which no entry says that it was cancelled") func leaving() throws {
    let scene = try Scene()
    scene.person.conversation?.leave()
    #expect(scene.person.conversation?.isOver == true && scene.person.told.isEmpty)
    #expect(try scene.unlocks() == Self.entries)
    #expect(scene.person.told.isEmpty)
  }

  @Test("a change of the slots that it was proven by: its caller is told that it was done") func slots() throws {
    let scene = try Scene()
    scene.stand.rooms.waysIn.slotsChanged(without: [])
    #expect(scene.person.told == ["done"])
    #expect(try scene.unlocks() == Self.entries)
  }

  @Test("a rekey: its caller is told that it was done, and no entry says that it was cancelled") func rekey() throws {
    let scene = try Scene()
    let (stand, other) = (scene.stand, Person(scene.stand.administrator))
    try stand.writeBootKey()
    let reader = RekeyWork.Reader(ObjectIdentifier(other), isKeepingUp: { true }, tell: { _ in }, end: { _ in })
    stand.rooms.upkeep.rekey("recovery", other, reader)
    try scene.type(other)
    #expect(other.told.count == 1 && other.told.first?.hasPrefix("rekeying") == true)
    #expect(scene.person.told == ["done"])
    #expect(try scene.unlocks() == Self.entries)
  }

  @Test("the end of its time: its caller is told that it was done") func time() throws {
    let scene = try Scene()
    let conversation = try #require(scene.person.conversation)
    conversation.fail(.cancelled)
    #expect(scene.person.told == ["done"] && conversation.isOver)
    #expect(try scene.unlocks() == Self.entries)
  }

  // MARK: Before the vault is unlocked

  @Test(
    "its caller's leaving while a secret is tried, of which an entry says whether it was wrong",
    arguments: [false, true], [false, true])
  func leavingTrial(isRight: Bool, isLocked: Bool) throws {
    let code = SecretBox(RecoveryCode.random().text())
    let stand = try RoomStand.unlocked(system: true, code: code)
    stand.vault.lock(because: .asked)
    let person = Person(stand.administrator)
    stand.rooms.waysIn.unlock("recovery", for: nil, Said(), person)
    let conversation = try #require(person.conversation)
    stand.worker.hold()
    let other = SecretBox(RecoveryCode.random().text())
    let typed = (isRight ? code : other).bytes.withBytes { SecureBytes(copying: $0) }
    let isTaken = conversation.answer(typed, to: nil)
    #expect(isTaken)
    if isLocked { conversation.callOff() } else { conversation.leave() }
    #expect(conversation.isOver)
    stand.worker.release()
    #expect(stand.vault.state.kind == .locked)
    try stand.unlock()
    let refused = try AuditTests.told(stand).filter { $0.hasPrefix("unlock") && !$0.hasPrefix("unlock ok") }
    let expected = isRight ? "unlock cancelled" : "unlock unproven"
    #expect(refused.count == 1 && refused.first?.hasPrefix(expected) == true, "\(refused)")
  }

  @Test("the daemon's end, of which an entry says that the unlock was cancelled") func stopped() throws {
    let stand = try RoomStand.unlocked(system: true)
    stand.vault.lock(because: .asked)
    let person = Person(stand.administrator)
    stand.rooms.waysIn.unlock("recovery", for: nil, Said(), person)
    try #require(person.conversation?.isOver == false)
    stand.rooms.wipe()
    #expect(person.conversation?.isOver == true && person.told.isEmpty)
    try stand.restart()
    try stand.unlock()
    #expect(try AuditTests.told(stand).count { $0.hasPrefix("unlock cancelled") } == 1)
  }

  @Test(
    "nothing is opened where the slot goes, or the store is another one, while the grants are read",
    arguments: [false, true])
  func whileGrantsAreRead(reopens: Bool) throws {
    let code = SecretBox(RecoveryCode.random().text())
    let stand = try RoomStand.unlocked(system: true, code: code)
    for number in 0..<40 {
      _ = try stand.access.give(
        try Subject(parsing: "user:990"), try ItemPattern("own/\(number)"), try Rights(parsing: "get"), until: nil,
        for: stand.administrator)
    }
    try stand.restart(withBootKey: false)
    let person = Person(stand.administrator)
    stand.rooms.waysIn.unlock("recovery", for: nil, Said(), person)
    let conversation = try #require(person.conversation)
    stand.hands.stride.value = GrantsAhead.part
    let isTaken = conversation.answer(code.bytes.withBytes { SecureBytes(copying: $0) }, to: nil)
    try #require(isTaken && !conversation.isOver && stand.runner.isBusy)
    if reopens {
      stand.vault.closeStore()
      stand.vault.openStore(because: .start)
    } else {
      let keychain = try stand.vault.keychain()
      let key = RoomStand.vaultKey()
      let other = try SlotRecord.make(
        id: 2, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil, vaultKey: key,
        vaultID: keychain.vaultID)
      try keychain.addSlot(other, given: [], vaultKey: key)
      try keychain.removeSlot(id: 1, given: [], vaultKey: key)
    }
    stand.run()
    #expect(conversation.isOver && person.told.count == 1 && person.told != ["done"], "\(person.told)")
    #expect(stand.vault.state.kind == .cold && stand.access.book.all.isEmpty)
  }
}

import Glibc
import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("A rekey that a fault stops") struct RekeyPauseTests {
  /// An unlocked vault with a rekey whose end fails while the disk is full.
  private struct Scene {
    let stand: RoomStand
    let isFull = RoomStand.Shared(true)
    /// The number of ends that were tried.
    let tries = RoomStand.Shared(0)

    init() throws {
      stand = try RoomStand.unlocked()
      for number in 0..<3 { try stand.set("item/\(number)") }
      stand.run()
      let (isFull, tries) = (isFull, tries)
      try stand.rekey { (_: ReplacementStep) throws(VaultError) in
        guard isFull.value else { return }
        tries.value += 1
        throw .diskFull
      }
    }

    var warnings: [String] { stand.rooms.upkeep.status().warnings.filter { $0.topic == .rekey }.map(\.text) }
    /// The number of lines in the journal about a pause.
    var lines: Int { stand.journal.value.count { $0.contains("the rekey pauses") } }

    func backUp() throws {
      try stand.rooms.upkeep.backUp(isOfSalvage: false, for: stand.administrator) { _ in nil }
    }

    /// Hands the vault key on, as an unlock does.
    func takeUp() throws {
      let key = RoomStand.vaultKey()
      stand.rooms.waysIn.hooks.keyIsKnown(key, try stand.vault.keychain())
    }

    func pass(seconds: Int64) {
      stand.hands.pass(seconds: seconds)
      stand.run()
    }
  }

  private static let reason = "the rekey pauses: \(VaultError.diskFull.text)"

  @Test("tries again after pauses that grow, tells the reason meanwhile and logs it once, and ends when it can")
  func goesOn() throws {
    let scene = try Scene()
    #expect(scene.tries.value == 1 && scene.warnings == [Self.reason])
    var tries = 1
    for pause in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Int64] {
      scene.pass(seconds: pause - 1)
      #expect(scene.tries.value == tries && scene.warnings == [Self.reason], "\(pause)")
      scene.pass(seconds: 1)
      tries += 1
      #expect(scene.tries.value == tries && scene.warnings == [Self.reason], "\(pause)")
    }
    #expect(scene.lines == 1)
    #expect(scene.stand.rooms.upkeep.rekeyProgress != nil)
    scene.isFull.value = false
    scene.pass(seconds: 300)
    #expect(scene.stand.rooms.upkeep.rekeyProgress == nil && scene.warnings == [])
    try scene.stand.set("item/3")
  }

  @Test("tries again for whom it keeps from something, but once in a second, however many ask") func hastened() throws {
    let scene = try Scene()
    for _ in 0..<3 { scene.pass(seconds: 1) }
    #expect(scene.tries.value == 3)
    for _ in 0..<10 {
      #expect(throws: Refusal.rekeying) { try scene.backUp() }
      scene.stand.run()
    }
    #expect(scene.tries.value == 3)
    scene.pass(seconds: 1)
    for _ in 0..<10 {
      #expect(throws: Refusal.rekeying) { try scene.backUp() }
      scene.stand.run()
    }
    #expect(scene.tries.value == 4)
    scene.isFull.value = false
    scene.pass(seconds: 1)
    #expect(scene.stand.rooms.upkeep.rekeyProgress != nil, "the next pause is longer")
    scene.stand.rooms.waysIn.hooks.rekeyDelays()
    scene.stand.run()
    #expect(scene.stand.rooms.upkeep.rekeyProgress == nil)
  }

  @Test("a lock in a pause ends it, and nothing more is tried before the next unlock") func locked() throws {
    let scene = try Scene()
    scene.stand.vault.lock(because: .asked)
    scene.pass(seconds: 1000)
    #expect(scene.tries.value == 1 && scene.warnings == [] && scene.stand.rooms.upkeep.rekey == nil)
    try scene.stand.unlock()
    try scene.takeUp()
    scene.stand.run()
    scene.pass(seconds: 1)
    #expect(scene.stand.rooms.upkeep.rekeyProgress == nil)
  }

  @Test("an unlock that cannot open the second store keeps the reason and tries again") func unopened() throws {
    let scene = try Scene()
    let keychain = try scene.stand.vault.keychain()
    scene.stand.vault.lock(because: .asked)
    scene.isFull.value = false
    // A file that is in use stands for any fault that passes.
    var other: Keychain? = try Keychain(opening: Rekey.path(in: keychain))
    try scene.stand.unlock()
    try scene.takeUp()
    for _ in 0..<3 {
      scene.pass(seconds: 10)
      #expect(scene.warnings.count == 1 && scene.stand.rooms.upkeep.rekeyProgress?.of == 3)
    }
    // The pause before the lock had logged its own reason.
    #expect(scene.lines == 2)
    try other?.close()
    other = nil
    scene.pass(seconds: 60)
    #expect(scene.stand.rooms.upkeep.rekeyProgress == nil && scene.warnings == [])
    try scene.stand.set("item/3")
  }

  @Test("the first fault after one that has passed is followed by a short pause again") func shortPause() throws {
    let scene = try Scene()
    let (upkeep, keychain) = (scene.stand.rooms.upkeep, try scene.stand.vault.keychain())
    scene.stand.vault.lock(because: .asked)
    let other = try Keychain(opening: Rekey.path(in: keychain))
    try scene.stand.unlock()
    try scene.takeUp()
    for _ in 0..<5 { scene.pass(seconds: 60) }
    #expect(upkeep.rekey.map { $0.pause > RekeyWork.firstPause && $0.problem != nil } == true)
    try other.close()
    // One step, after which the time is up.
    scene.stand.hands.stride.value = 1_000_000
    scene.stand.hands.pass(seconds: 120)
    while upkeep.rekey?.problem != nil { scene.stand.runner.turn() }
    #expect(upkeep.rekey?.pause == RekeyWork.firstPause)
  }

  @Test("one that is given up is removed once that is possible, and then backups are made again")
  func dropped() throws {
    let scene = try Scene()
    let (upkeep, keychain) = (scene.stand.rooms.upkeep, try scene.stand.vault.keychain())
    upkeep.rekey?.stop(.cancelled)
    // An open change stands for any fault that passes.
    let saved = try keychain.begin()
    upkeep.giveUpRekey(keychain, because: .secondStore("it is damaged"))
    keychain.rollBack(saved)
    #expect(throws: Refusal.rekeying) { try scene.backUp() }
    scene.pass(seconds: 1)
    #expect(upkeep.rekeyProgress == nil && scene.warnings.count == 1)
    #expect(scene.stand.journal.value.count { $0.contains("cannot be forgotten") } == 1)
    try scene.backUp()
  }

  /// Gives the rekey up while it cannot be removed.
  private func giveUp(_ scene: Scene) throws -> Keychain {
    let (upkeep, keychain) = (scene.stand.rooms.upkeep, try scene.stand.vault.keychain())
    upkeep.rekey?.stop(.cancelled)
    scene.isFull.value = false
    let saved = try keychain.begin()
    upkeep.giveUpRekey(keychain, because: .secondStore("it is damaged"))
    keychain.rollBack(saved)
    #expect(upkeep.rekeyProgress != nil && scene.warnings.count == 1)
    return keychain
  }

  @Test("one that is given up and not removed yet is removed by the next unlock, and not resumed")
  func unlockedAfterGivingUp() throws {
    let scene = try Scene()
    let keychain = try giveUp(scene)
    scene.stand.vault.lock(because: .asked)
    try scene.stand.unlock()
    try scene.takeUp()
    scene.stand.run()
    #expect(!keychain.isRekeying && scene.stand.rooms.upkeep.rekey == nil && scene.warnings.count == 1)
    #expect(!scene.stand.journal.value.contains { $0.contains("has a new key") })
    try scene.backUp()
  }

  @Test("one that is given up and not removed yet is not completed after a restart either")
  func restartedAfterGivingUp() throws {
    let scene = try Scene()
    _ = try giveUp(scene)
    try scene.stand.restart()
    try scene.stand.unlock()
    try scene.takeUp()
    scene.stand.run()
    #expect(try !scene.stand.vault.keychain().isRekeying)
    #expect(scene.stand.rooms.upkeep.rekey == nil && scene.warnings.count == 1)
    #expect(!scene.stand.journal.value.contains { $0.contains("has a new key") })
    try scene.backUp()
  }

  @Test("one that is called off and cannot be removed yet is not resumed") func calledOff() throws {
    let scene = try Scene()
    let (upkeep, keychain) = (scene.stand.rooms.upkeep, try scene.stand.vault.keychain())
    let saved = try keychain.begin()
    #expect(throws: Refusal.self) { try upkeep.cancelRekey(for: scene.stand.administrator) }
    keychain.rollBack(saved)
    #expect(scene.warnings == ["a rekey was given up: it was called off"])
    scene.isFull.value = false
    try scene.takeUp()
    scene.stand.run()
    #expect(!keychain.isRekeying && upkeep.rekey == nil)
    #expect(!scene.stand.journal.value.contains { $0.contains("has a new key") })
    #expect(try AuditTests.told(scene.stand).contains("rekey cancelled called off"))
  }

  @Test("one that can be neither forgotten nor removed is said not to be called off for good: a restart continues it")
  func notCalledOff() throws {
    let scene = try Scene()
    let (upkeep, keychain) = (scene.stand.rooms.upkeep, try scene.stand.vault.keychain())
    let (store, kept) = (scene.stand.vault.directory + "/rekey/vault.db", scene.stand.vault.directory + "/kept")
    upkeep.rekey?.stop(.cancelled)
    // An open change stands for a disk that cannot be written, and a directory for a file that cannot be removed.
    let saved = try keychain.begin()
    #expect(unsafe rename(store, kept) == 0 && mkdir(store, 0o700) == 0)
    let refusal = #expect(throws: Refusal.self) { try upkeep.cancelRekey(for: scene.stand.administrator) }
    let text = if case .storageFailed(let reason)? = refusal { reason } else { "" }
    #expect(text.contains("not called off for good"), "\(String(describing: refusal))")
    keychain.rollBack(saved)
    #expect(scene.warnings == ["a rekey is to be called off, and cannot be removed yet"])
    #expect(try !AuditTests.told(scene.stand).contains("rekey cancelled called off"))
    #expect(unsafe rmdir(store) == 0 && rename(kept, store) == 0)
    scene.isFull.value = false
    try scene.stand.restart()
    try scene.stand.unlock()
    try scene.takeUp()
    scene.stand.run()
    #expect(try !scene.stand.vault.keychain().isRekeying)
    #expect(scene.stand.journal.value.contains { $0.contains("has a new key") })
  }

  @Test("one whose files cannot be removed is called off all the same, and the next one names what is in the way")
  func foreignFile() throws {
    let scene = try Scene()
    let keychain = try scene.stand.vault.keychain()
    let foreign = scene.stand.vault.directory + "/rekey/foreign"
    try TextFile.replace(foreign, with: "")
    #expect(try scene.stand.rooms.upkeep.cancelRekey(for: scene.stand.administrator))
    #expect(!keychain.isRekeying && scene.warnings == [])
    #expect(try AuditTests.told(scene.stand).contains("rekey cancelled called off"))
    #expect(scene.stand.journal.value.contains { $0.contains("its files cannot be removed") })
    let problem = VaultError.permissions(
      "\(scene.stand.vault.directory)/rekey: has files that are not the vault's; move them elsewhere")
    #expect(throws: problem) { try scene.stand.rekey() }
    #expect(unsafe unlink(foreign) == 0)
    try scene.stand.rekey()
    #expect(!keychain.isRekeying && scene.warnings == [])
  }

  /// A caller who waits for a rekey, and leaves as soon as it hears of it.
  private final class Leaving: Prompter {
    let caller: Caller
    let isPresent = true
    var leave: () -> Void = {}
    private(set) var told: [Refusal] = []

    init(_ caller: Caller) { self.caller = caller }

    func begin(_ conversation: Conversation) {}
    func show(_: Prompt) {}
    func end() {}
    func finish(_ result: ConversationResult) { leave() }
    func refuse(_ refusal: Refusal) { told.append(refusal) }
  }

  @Test("a caller whose call ends when it hears of the rekey is told nothing more") func left() throws {
    let scene = try Scene()
    let upkeep = scene.stand.rooms.upkeep
    let told = RoomStand.Shared(0)
    let person = Leaving(scene.stand.administrator)
    let reader = RekeyWork.Reader(ObjectIdentifier(person)) {
      true
    } tell: { _ in
      told.value += 1
    } end: { _ in
      told.value += 1
    }
    person.leave = { upkeep.leaveRekey(reader.id) }
    upkeep.rekey(nil, person, reader)
    scene.isFull.value = false
    scene.stand.run()
    #expect(upkeep.rekeyProgress == nil && told.value == 0)
  }

  @Test("a store that has failed gets none, also while another check of it goes on") func failed() throws {
    let stand = try AuditTests.failed(VaultSettings())
    let keychain = try stand.vault.keychain()
    keychain.beginVerification()
    #expect(keychain.integrity != .failed && keychain.hasFailed)
    let person = Leaving(stand.administrator)
    let reader = RekeyWork.Reader(ObjectIdentifier(person)) {
      true
    } tell: { _ in
    } end: { _ in
    }
    stand.rooms.upkeep.rekey(nil, person, reader)
    #expect(person.told.map(\.outcome) == [.failed])
    if case .corrupt? = person.told.first {} else { Issue.record("\(person.told)") }
  }
}

import Testing
import VaultModel

@testable import VaultCore
@testable import VaultService

@Suite("A secret tried on slots") struct SlotTrialTests {
  private static func slots(_ count: Int) throws -> [SlotRecord] {
    let vaultKey = RandomBytes.secret(count: 32)
    let id = VaultID.random().bytes
    return try (1...count).map {
      try SlotRecord.make(
        id: UInt32($0), kind: .recovery, label: "", created: 0, secret: RecoveryCode.random().text(), kdf: nil,
        vaultKey: vaultKey, vaultID: id)
    }
  }

  /// Returns the outcome of a trial of slots with these results (nil for a slot that opens), and the number of slots
  /// tried.
  private func run(_ results: [CryptoError?], cancelAt step: Int? = nil) throws -> (SlotTrial.Outcome, Int) {
    let cancellation = Cancellation()
    var tried = 0
    if step == 0 { cancellation.cancel() }
    let outcome = SlotTrial.run(try Self.slots(results.count), unless: cancellation) { _ throws(CryptoError) in
      tried += 1
      if tried == step { cancellation.cancel() }
      if let error = results[tried - 1] { throw error }
      return RandomBytes.secret(count: 32)
    }
    return (outcome, tried)
  }

  @Test("that costs least is tried first, and one at the ceiling last, whatever their numbers") func order() throws {
    let costs = [4, 2, 3].map { Argon2id.Parameters(memory: Argon2id.Parameters.floor.memory, passes: $0) }
    let slots = try costs.enumerated().map { index, cost in
      try SlotRecord.make(
        id: UInt32(index + 1), kind: .password, label: "", created: 0, secret: RandomBytes.secret(count: 32), kdf: cost,
        vaultKey: RandomBytes.secret(count: 32), vaultID: VaultID.random().bytes)
    }
    #expect(TrialBudget.affordable(slots).map(\.id) == [2, 3, 1])
    #expect(TrialBudget.affordable(slots + slots).map(\.id) == [2, 2, 3, 3, 1, 1])
    // Slots at the ceiling, without the minutes that making one would take.
    let ceiling = Argon2id.Parameters.ceiling
    let dear = try (4...12).map { (id: UInt32) in
      try SlotRecord(
        id: id, kind: .password, label: "", created: 0, kdf: ceiling, salt: slots[0].salt, wrapped: slots[0].wrapped,
        extensions: slots[0].extensions)
    }
    #expect(TrialBudget.affordable(Array(dear[..<8])).count == 8)
    #expect(TrialBudget.affordable(dear).count == 8)
    #expect(TrialBudget.affordable(dear + slots).map(\.id) == [2, 3, 1, 4, 5, 6, 7, 8, 9, 10])
    let free = try Self.slots(70)
    #expect(TrialBudget.affordable(free).map(\.id) == free.map(\.id))
  }

  private func name(_ result: (SlotTrial.Outcome, Int)) -> String {
    switch result.0 {
    case .opened: "opened, \(result.1)"
    case .wrong: "wrong, \(result.1)"
    case .outOfMemory(let tried): "no memory\(tried ? "" : ", none tried"), \(result.1)"
    case .abandoned: "abandoned, \(result.1)"
    }
  }

  @Test("the first one that opens ends it") func opens() throws {
    let (outcome, tried) = try run([.authenticationFailed, nil, .authenticationFailed])
    guard case .opened(let opened) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(opened.slot.id == 2 && tried == 2)
  }

  @Test("a slot for which there is no memory is not called wrong, and keeps no other from opening") func memory() throws
  {
    #expect(try name(run([.outOfMemory, .outOfMemory])) == "no memory, none tried, 2")
    #expect(try name(run([.authenticationFailed, .outOfMemory])) == "no memory, 2")
    #expect(try name(run([.outOfMemory, nil])) == "opened, 2")
    #expect(try name(run([.authenticationFailed, .malformed("slot")])) == "wrong, 2")
  }

  @Test("once nobody waits for it not one more is tried", arguments: 0...3) func abandoned(step: Int) throws {
    let (outcome, tried) = try run(Array(repeating: .authenticationFailed, count: 4), cancelAt: step)
    guard case .abandoned(let any) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(tried == step && any == (step > 0))
  }

  @Test("what may be tried at once is bounded in number and in work") func budget() {
    let (floor, ceiling) = (Argon2id.Parameters.floor, Argon2id.Parameters.ceiling)
    #expect(TrialBudget.admits([]))
    #expect(TrialBudget.admits(Array(repeating: ceiling, count: 8)))
    #expect(!TrialBudget.admits(Array(repeating: ceiling, count: 8) + [floor]))
    #expect(TrialBudget.admits(Array(repeating: floor, count: 64)))
    #expect(!TrialBudget.admits(Array(repeating: floor, count: 65)))
    #expect(!TrialBudget.admits([.init(memory: .max, passes: .max)]))
    #expect(!TrialBudget.admits([.init(memory: -1, passes: 1)]))
  }

  @Test("of more slots than may be tried the first ones are") func affordable() throws {
    let slot = try SlotRecord.make(
      id: 1, kind: .password, label: "", created: 0, secret: RandomBytes.secret(count: 32), kdf: .floor,
      vaultKey: RandomBytes.secret(count: 32), vaultID: VaultID.random().bytes)
    #expect(TrialBudget.affordable(Array(repeating: slot, count: 64)).count == 64)
    #expect(TrialBudget.affordable(Array(repeating: slot, count: 255)).indices == 0..<64)
    #expect(TrialBudget.affordable([]).isEmpty)
  }
}

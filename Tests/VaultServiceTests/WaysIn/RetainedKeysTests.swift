import Testing
import VaultCore

@testable import VaultService

@Suite("The keys of `memory` slots") struct RetainedKeysTests {
  private let holders: SecretHolders
  private let keys: RetainedKeys

  init() {
    holders = SecretHolders()
    keys = RetainedKeys(in: holders)
  }

  private func keep(_ slot: UInt32, at now: Int64) { keys.keep(RandomBytes.secret(count: 32), of: slot, now: now) }

  private func lock(_ reach: Lock.Reach, because cause: LockState.Cause) {
    holders.letGo(for: Lock(reach, because: cause, isEffective: true))
  }

  @Test("are as old as the last proof with a secret, and a new key of the vault makes them no younger") func since() {
    keep(1, at: 5)
    keep(2, at: 9)
    #expect(keys.since == 9)
    let others = [1, 3].map { (slot: UInt32) in (slot, Handover(RandomBytes.secret(count: 32))) }
    keys.replace(with: Dictionary(uniqueKeysWithValues: others))
    #expect(keys.has(1) && keys.since == 9)
    // A slot without a new key loses its key, and one that had none gets none.
    #expect(!keys.has(2) && !keys.has(3))
    keys.drop(2)
    #expect(keys.has(1) && keys.since == 9)
    keys.drop(1)
    #expect(!keys.has(1) && keys.since == nil)
    keep(1, at: 12)
    #expect(keys.since == 12)
    keys.replace(with: [:])
    #expect(!keys.has(1) && keys.since == nil)
  }

  @Test("are gone since the lock that took them, whatever other locks there were before and after it") func lost() {
    #expect(keys.lostSince == "since the daemon started")
    lock([.whenUnlocked, .presenceKeys], because: .sleep)
    #expect(keys.lostSince == "since the daemon started")
    keep(1, at: 5)
    lock(.whenUnlocked, because: .asked)
    #expect(keys.has(1) && keys.since == 5 && keys.lostSince == "since the daemon started")
    lock([.whenUnlocked, .presenceKeys], because: .sleep)
    #expect(!keys.has(1) && keys.since == nil)
    let cause = keys.lostSince
    #expect(cause.contains(LockState.Cause.sleep.text))
    lock([.whenUnlocked, .presenceKeys], because: .age)
    #expect(keys.lostSince == cause)
  }
}

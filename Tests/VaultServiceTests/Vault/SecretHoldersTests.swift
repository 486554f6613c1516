import Testing

@testable import VaultService

@Suite("Who holds secrets") struct SecretHoldersTests {
  /// A holder of a secret that locks of some kinds wipe, provided that the holder obeys.
  private final class Holder: SecretHolder {
    private let kinds: Lock.Reach
    private let obeys: Bool
    private(set) var holds = true

    init(_ holders: SecretHolders, _ kinds: Lock.Reach = .whenUnlocked, obeys: Bool = true) {
      self.kinds = kinds
      self.obeys = obeys
      super.init(in: holders)
    }

    override func letGo(for lock: Lock) { if obeys, outlives(lock) { holds = false } }
    override func outlives(_ lock: Lock) -> Bool { holds && !lock.reach.isDisjoint(with: kinds) }
  }

  /// A holder whose author forgot about locks.
  private final class Forgetful: SecretHolder {
    override func letGo(for lock: Lock) {}
  }

  @Test("each is told of a lock from the moment it is made, and lets go of what the lock reaches") func told() {
    let holders = SecretHolders()
    var found: [String] = []
    holders.onDisobedience = { found += $0 }
    let kept = [Holder(holders), Holder(holders, .afterFirstUnlock), Holder(holders, .everything)]
    holders.letGo(for: Lock(.whenUnlocked, because: .asked, isEffective: true))
    #expect(kept.map(\.holds) == [false, true, false])
    holders.letGo(for: Lock([.whenUnlocked, .afterFirstUnlock], because: .sleep, isEffective: true))
    #expect(kept.map(\.holds) == [false, false, false] && found.isEmpty)
  }

  @Test("one that ignores a lock is found, and so is one that does not say what it holds") func disobedient() {
    let holders = SecretHolders()
    var found: [[String]] = []
    holders.onDisobedience = { found.append($0) }
    let good = Holder(holders)
    let bad = Holder(holders, obeys: false)
    let forgetful = Forgetful(in: holders)
    withExtendedLifetime((good, bad, forgetful)) {
      holders.letGo(for: Lock(.names, because: .asked, isEffective: true))
      holders.letGo(for: Lock(.whenUnlocked, because: .asked, isEffective: true))
    }
    #expect(found == [["Forgetful"], ["Forgetful", "Holder"]])
  }

  /// A holder that hands its secret on when it is told of a lock.
  private final class Passing: SecretHolder {
    let name: String
    let told: (String) -> Void
    var heir: Passing?
    var holds: Bool

    init(_ holders: SecretHolders, _ name: String, holds: Bool, told: @escaping (String) -> Void) {
      (self.name, self.holds, self.told) = (name, holds, told)
      super.init(in: holders)
    }

    override func letGo(for lock: Lock) {
      told(name)
      if holds { heir?.holds = true }
      holds = false
    }
    override func outlives(_ lock: Lock) -> Bool { holds }
  }

  @Test("the youngest is told first, and one that got something from another meanwhile is told again") func order() {
    let holders = SecretHolders()
    var told: [String] = []
    var found: [String] = []
    holders.onDisobedience = { found += $0 }
    let connection = Passing(holders, "connection", holds: false) { told.append($0) }
    let conversation = Passing(holders, "conversation", holds: true) { told.append($0) }
    let other = Passing(holders, "other", holds: false) { told.append($0) }
    conversation.heir = other
    withExtendedLifetime(connection) { holders.letGo(for: Lock(.whenUnlocked, because: .asked, isEffective: true)) }
    #expect(told == ["other", "conversation", "connection", "other"] && found.isEmpty)
  }

  @Test("those that are gone are forgotten, however many there were") func gone() {
    let holders = SecretHolders()
    for _ in 0..<10_000 { _ = Holder(holders, obeys: false) }
    #expect(holders.count < 200)
    var found: [[String]] = []
    holders.onDisobedience = { found.append($0) }
    holders.letGo(for: Lock(.everything, because: .stop, isEffective: true))
    #expect(found.isEmpty)
  }
}

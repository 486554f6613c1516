import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("What a proof of presence counts for") struct AuthorizationsTests {
  private let second: Int64 = 1_000_000_000

  private func session() -> AuthenticationSession {
    AuthenticationSession(uid: 1000, scope: .session, pid: 4711, started: 100)
  }

  @Test("it counts up to the end of an item's window and no longer, and for the session alone") func window() throws {
    let own = session()
    var other = own
    other.started += 1
    let start = 5 * second
    for reuse: UInt32 in [1, 60, 86_400] {
      var given = Authorizations()
      let policy = Policy(require: .biometry, reuseWindow: reuse)
      let end = start + Int64(reuse) * second
      #expect(!given.satisfy(policy, own, now: start))
      given.add(.biometry, by: own, with: [], now: start)
      for time in [start, end - 1] { #expect(given.satisfy(policy, own, now: time)) }
      for time in [end, end + 1, .max] { #expect(!given.satisfy(policy, own, now: time)) }
      #expect(!given.satisfy(policy, other, now: start))
      given.add(.biometry, by: own, with: [], now: end)
      #expect(given.satisfy(policy, own, now: end))
      given.forget()
      #expect(!given.satisfy(policy, own, now: end))
    }
  }

  @Test("it counts no more when one of the slots is gone by which it did, and others stay") func slots() throws {
    let own = session()
    let (first, second, third) = (try slot(1), try slot(2), try slot(3))
    var given = Authorizations()
    given.add(.presence, by: own, with: [first, second], now: 0)
    given.add(.password, by: own, with: [third], now: 0)
    let (presence, password) = (Policy(require: .userPresence), Policy(require: .password))
    given.forget([try slot(4)])
    #expect(given.satisfy(presence, own, now: 0) && given.satisfy(password, own, now: 0))
    given.forget([third])
    #expect(given.satisfy(presence, own, now: 0) && !given.satisfy(password, own, now: 0))
    given.forget([second])
    #expect(!given.satisfy(presence, own, now: 0))
  }

  private func slot(_ id: UInt32) throws -> SlotRecord {
    try SlotRecord.make(
      id: id, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil,
      vaultKey: RandomBytes.secret(count: 32), vaultID: VaultID.random().bytes)
  }
}

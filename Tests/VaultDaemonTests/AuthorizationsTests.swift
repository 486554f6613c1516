import Glibc
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite("What a proof of presence counts for") struct AuthorizationsTests {
  private let second: Int64 = 1_000_000_000

  private func session() throws -> AuthenticationSession {
    let peer = Peer(uid: geteuid(), pid: getpid())
    let process = try #require(PeerProcess.start(of: peer.pid).flatMap { PeerProcess(peer, started: $0) })
    return try #require(AuthenticationSession(of: peer, process))
  }

  @Test("it counts up to the end of an item's window and no longer, and for the session alone") func window() throws {
    let own = try session()
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
}

import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The shares of users without any right") struct StrangersTests {
  private let strangers = Strangers()

  private func share(_ uid: UInt32) -> UserShare {
    UserShare(uid: uid, RequestRate(perSecond: 100, now: 0), among: strangers, isStranger: true)
  }

  @Test("are one share of the time, and of the bytes that wait") func together() {
    let (one, other, service) = (share(1), share(2), share(3))
    service.note(true, 7)
    #expect(one.answers.account === other.answers.account && one.works.account === other.works.account)
    #expect(one.answers.account !== one.works.account && service.answers.account !== one.answers.account)
    for share in [one, other, service] {
      share.countPending(10)
      share.countUnread(100)
    }
    #expect([one, other, service].map(\.pendingTogether) == [20, 20, 10])
    #expect([one, other, service].map(\.unreadTogether) == [200, 200, 100])
    // The bytes of a user who gets a right no longer count there.
    other.note(true, 8)
    #expect([one, other].map(\.pendingTogether) == [10, 10] && [one, other].map(\.unreadTogether) == [100, 100])
    other.countPending(-10)
    other.note(false, 9)
    #expect(one.pendingTogether == 10 && one.unreadTogether == 200)
  }

  @Test("tell the journal once a minute each of a client that finds no room") func told() {
    let (one, other) = (share(1), share(2))
    let minute: Int64 = 60_000_000_000
    #expect(one.mayTell(now: 5) && !one.mayTell(now: 5) && !one.mayTell(now: 4 + minute))
    #expect(other.mayTell(now: 6))
    #expect(one.mayTell(now: 5 + minute) && !one.mayTell(now: 6 + minute))
  }

  @Test("do not fill the memory with closed connections that wait to be freed") func closed() {
    let clients = Clients(owner: 0, clock: .system, openFiles: OpenFiles(limit: 1024), Configuration())
    #expect((0..<1000).count { _ in clients.putsOffFreeing() } == 64)
    clients.hasFreed()
    #expect(clients.putsOffFreeing() && !clients.putsOffFreeing())
  }

  @Test("end with a right of any process of the user, and begin again when the rights have changed") func rights() {
    let one = share(1)
    #expect(one.isStranger)
    one.note(false, 1)
    #expect(one.isStranger)
    one.note(true, 1)
    one.note(false, 1)
    #expect(!one.isStranger)
    one.note(false, 2)
    #expect(one.isStranger)
    one.note(true, 2)
    #expect(!one.isStranger)
    let administrator = UserShare(uid: 0, RequestRate(perSecond: 100, now: 0), among: strangers)
    administrator.weight = UserShare.administrator
    administrator.note(false, 1)
    #expect(!administrator.isStranger)
  }
}

import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The users who were heard last") struct HeardUsersTests {
  private final class Connection: Sender {
    let share: UserShare
    private(set) var looks = 0

    init(_ share: UserShare) { self.share = share }

    var pid: Int32 { 1 }
    var standing: Room.Standing { .idle }
    var heard: Int { 0 }
    var isRefused: Bool { false }
    var held: Int { 0 }
    func looksUrgent() -> Bool { false }
    func giveWay(most: Int) {}
    func close() {}
    func lookIn(amongEvents: Bool) { looks += 1 }
    func refuseMore() {}
  }

  @Test("a user who is heard again is looked in on, and one not heard for longest is no more") func again() throws {
    let clients = Clients(owner: 0, clock: .system, openFiles: OpenFiles(limit: 1024), Configuration())
    let users = (0..<5).map { Connection(clients.share(of: 1000 + $0)) }
    for user in users { user.share.note(true, 1) }
    for index in [0, 1, 2, 3, 0, 4] { _ = clients.heard(users[index]) }
    clients.lookAround(beside: nil, amongEvents: false)
    #expect(users.map(\.looks) == [1, 0, 1, 1, 1])
    // A user's newest connection stands for the user.
    let other = Connection(users[2].share)
    _ = clients.heard(other)
    clients.lookAround(beside: users[0].share, amongEvents: false)
    #expect(users.map(\.looks) == [1, 0, 1, 2, 2] && other.looks == 1)
  }

  @Test("of all users without any right, only the one heard last is looked in on") func strangers() throws {
    let clients = Clients(owner: 0, clock: .system, openFiles: OpenFiles(limit: 1024), Configuration())
    let service = Connection(clients.share(of: 1000))
    service.share.note(true, 1)
    let strangers = (1...9).map { Connection(clients.share(of: 1000 + $0)) }
    for connection in [service] + strangers { _ = clients.heard(connection) }
    clients.lookAround(beside: nil, amongEvents: false)
    #expect(service.looks == 1 && strangers.map(\.looks) == [0, 0, 0, 0, 0, 0, 0, 0, 1])
  }
}

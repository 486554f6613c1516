import Glibc
import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("Watchers' notices") struct WatcherNoticesTests {
  private func set(_ words: String?, _ pid: Int32, in notices: inout WatcherNotices, at time: Int64) throws {
    let started = try #require(PeerProcess.start(of: pid))
    let process = try #require(PeerProcess(pid, started: started))
    let caller = Caller(
      door: .varlink, uid: 1000, groups: [1000], pid: pid, started: started, unit: nil, session: nil)
    notices.set(words, of: caller, isSystem: false, process, at: time)
  }

  @Test("are one for each process of a user, which replaces and takes back its own alone") func several() throws {
    let (own, parent) = (getpid(), getppid())
    var notices = WatcherNotices()
    try set("own", own, in: &notices, at: 1)
    try set("parent", parent, in: &notices, at: 2)
    #expect(notices.current.map(\.text).sorted() == ["own", "parent"])
    // The time is that of the first notice with the same text.
    try set("own", own, in: &notices, at: 3)
    try set("other", parent, in: &notices, at: 4)
    #expect(notices.current.map { "\($0.text) \($0.since)" }.sorted() == ["other 4", "own 1"])
    try set(nil, own, in: &notices, at: 5)
    #expect(notices.current.map(\.pid) == [parent])
  }
}

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
    // A notice that was taken back is a new one when it comes again, and an empty text takes one back as well.
    try set("own", own, in: &notices, at: 6)
    #expect(notices.current.map { "\($0.text) \($0.since)" }.sorted() == ["other 4", "own 6"])
    try set("", parent, in: &notices, at: 7)
    #expect(notices.current.map(\.text) == ["own"])
  }

  @Test("are of 16 processes of a user at most, which may still change and take back theirs, and of 128 in all")
  func most() throws {
    let started = try #require(PeerProcess.start(of: getpid()))
    let process = try #require(PeerProcess(getpid(), started: started))
    var notices = WatcherNotices()
    /// Sets the notice of a process that has another pid here.
    func set(_ words: String?, _ pid: Int32, uid: UInt32 = 1000) {
      let caller = Caller(
        door: .varlink, uid: uid, groups: [uid], pid: pid, started: started, unit: nil, session: nil)
      notices.set(words, of: caller, isSystem: false, process, at: 1)
    }
    for pid: Int32 in 1...17 { set("first", pid) }
    #expect(notices.current.map(\.pid) == Array(1...16))
    set("changed", 3)
    #expect(notices.current.count == 16 && notices.current.filter { $0.text == "changed" }.map(\.pid) == [3])
    set(nil, 4)
    for pid: Int32 in [17, 18] { set("late", pid) }
    #expect(notices.current.count == 16 && notices.current.filter { $0.text == "late" }.map(\.pid) == [17])
    // Another user's process has the pid of one of these.
    set("other", 1, uid: 1001)
    #expect(notices.current.filter { $0.pid == 1 }.map(\.text) == ["first", "other"])
    for uid: UInt32 in 1002...1010 { for pid: Int32 in 1...16 { set("more", pid, uid: uid) } }
    #expect(notices.current.count == 128)
    set("changed again", 3)
    #expect(notices.current.count == 128 && notices.current.last?.text == "changed again")
  }
}

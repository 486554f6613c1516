import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("Replies that are not read") struct UnreadTests {
  /// A stand for the unread replies of one client, on a clock that the test moves.
  private final class Stand {
    private(set) var now: Int64 = 0
    private var timers: [(at: Int64, work: () -> Void)] = []
    private(set) var isDropped = false
    /// The replies that were sent, or that never will be.
    private(set) var released: [String] = []
    private(set) lazy var unread = Unread(
      now: { [unowned self] in now }, after: { [unowned self] in timers.append((now + $0, $1)) },
      drop: { [unowned self] in isDropped = true })
    var timerCount: Int { timers.count }

    /// Adds a reply whose first `sent` bytes the socket has taken.
    func add(_ text: String, sent: Int = 0, _ content: ReplyContent = []) {
      var reply = SecretBuffer()
      reply.append(utf8: text)
      unread.add(reply, from: sent, content) { [unowned self] in released.append(text) }
    }

    var text: String {
      unread.withBytes { bytes in
        // A byte has no padding.
        String(
          decoding: (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) },
          as: UTF8.self)
      }
    }

    func pass(seconds: Int64) {
      let end = now + seconds * 1_000_000_000
      while let next = timers.indices.filter({ timers[$0].at <= end }).min(by: { timers[$0].at < timers[$1].at }) {
        let timer = timers.remove(at: next)
        now = timer.at
        timer.work()
      }
      now = end
    }
  }

  @Test("the client is dropped thirty seconds after the first byte, however little it is") func deadline() {
    let stand = Stand()
    stand.add("ab", sent: 1)
    stand.pass(seconds: 20)
    stand.add("c")
    stand.pass(seconds: 9)
    #expect(!stand.isDropped)
    stand.pass(seconds: 1)
    #expect(stand.isDropped)
  }

  @Test("each reply has its own time: one that is read on time does not end the next one's, or spare it") func each() {
    let stand = Stand()
    stand.add("abc")
    stand.pass(seconds: 20)
    stand.add("de")
    stand.unread.take(4)
    stand.pass(seconds: 29)
    #expect(!stand.isDropped && stand.text == "e" && stand.released == ["abc"])
    stand.pass(seconds: 1)
    #expect(stand.isDropped)
  }

  @Test("a client that reads all in time is not dropped, and has one timer, however often it comes late") func read() {
    let stand = Stand()
    for _ in 0..<100 {
      stand.add("abc")
      stand.unread.take(3)
      stand.pass(seconds: 1)
      #expect(stand.timerCount <= 1)
    }
    stand.pass(seconds: 100)
    #expect(!stand.isDropped && stand.unread.isEmpty && stand.timerCount == 0)
  }

  @Test("the bytes come in their order, whatever was taken of them, and each reply is released once") func order() {
    let stand = Stand()
    stand.add("0123", sent: 2)
    #expect(stand.text == "23" && stand.unread.count == 2)
    stand.add("456")
    stand.unread.take(1)
    stand.add("7")
    #expect(stand.text == "34567")
    stand.unread.take(0)
    stand.unread.take(3)
    #expect(stand.released == ["0123"])
    stand.add("89")
    #expect(stand.text == "6789" && stand.unread.count == 4)
    stand.unread.take(2)
    #expect(stand.released == ["0123", "456", "7"])
    stand.unread.removeAll()
    #expect(stand.released == ["0123", "456", "7", "89"] && stand.unread.isEmpty && stand.unread.count == 0)
  }

  @Test("what a lock would wipe of it is known until that is read") func content() {
    let stand = Stand()
    stand.add("always", ReplyContent(.always))
    #expect(stand.unread.content == [])
    stand.add("after", ReplyContent(.afterFirstUnlock))
    stand.add("when", ReplyContent(.whenUnlocked))
    #expect(stand.unread.content == [.afterFirstUnlock, .whenUnlocked])
    stand.unread.take(12)
    #expect(stand.unread.content == .whenUnlocked)
    stand.unread.take(3)
    #expect(stand.unread.content == [])
  }
}

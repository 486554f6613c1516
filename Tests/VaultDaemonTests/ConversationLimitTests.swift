import Glibc
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing
import VaultCore
import VaultTesting

@testable import VaultDaemon

/// The times of a conversation run on a loop whose clock the test moves.
@Suite("How long a conversation lasts") struct ConversationLimitTests {
  /// A conversation with this process, which is told nothing.
  private struct Stand {
    let conversation: Conversation
    private let timers = EmbeddedEventLoop()
    private let service: Service

    init(_ service: Service) {
      self.service = service
      let connection = Connection(peer: Peer(uid: geteuid(), pid: getpid()), service: service)
      connection.peerStarted = PeerProcess.start(of: getpid())
      conversation = Conversation(connection: connection, service: service) { [timers] delay, work in
        timers.assumeIsolated().scheduleTask(in: delay, work)
      }
    }

    func ask() { conversation.ask(.secret, method: "password", text: "Password") { _ in } }

    /// Whether there was a question to answer.
    func answer() -> Bool { conversation.answer(SecureBytes(count: 8)) }

    func pass(_ time: TimeAmount) { timers.advanceTime(by: time) }
  }

  private func withStand(_ body: @escaping @Sendable (Stand) -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let (store, socket) = (sandbox.store, sandbox.socket)
    try loop.submit { body(Stand(try Service.stand(on: loop, store: store, socket: socket))) }.wait()
  }

  @Test("half an hour after the first secret it is over, however often it asks, and what it held is wiped")
  func holdingSecret() throws {
    try withStand { stand in
      let key = Handover(SecureBytes(count: 32))
      stand.conversation.willWipe(key)
      for _ in 0..<7 {
        stand.ask()
        #expect(stand.answer())
        stand.pass(.minutes(4))
      }
      stand.ask()
      stand.pass(.seconds(119))
      #expect(!stand.conversation.isOver && key.withSecret { $0.count } == 32)
      stand.pass(.seconds(1))
      let isWiped = key.withSecret { $0.count } == nil
      #expect(stand.conversation.isOver && isWiped && !stand.answer())
    }
  }

  @Test("one that holds a secret and asks nothing any more is over then, too") func silent() throws {
    try withStand { stand in
      stand.conversation.holdSecret()
      stand.pass(.seconds(1799))
      // A second secret begins no other half hour.
      stand.conversation.holdSecret()
      #expect(!stand.conversation.isOver)
      stand.pass(.seconds(1))
      #expect(stand.conversation.isOver)
    }
  }

  @Test("a question that nobody answers ends it after five minutes, and each answer begins them anew")
  func unanswered() throws {
    try withStand { stand in
      for _ in 0..<2 {
        stand.ask()
        stand.pass(.seconds(299))
        #expect(!stand.conversation.isOver && stand.answer())
      }
      stand.ask()
      stand.pass(.seconds(299))
      #expect(!stand.conversation.isOver)
      stand.pass(.seconds(1))
      #expect(stand.conversation.isOver && !stand.answer())
    }
  }
}

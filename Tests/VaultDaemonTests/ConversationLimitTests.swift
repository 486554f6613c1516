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

  /// Runs `body` on the loop. What it saw is looked at outside, where the test is known.
  private func withStand<R: Sendable>(_ body: @escaping @Sendable (Stand) -> R) throws -> R {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let (store, socket) = (sandbox.store, sandbox.socket)
    return try loop.submit { body(Stand(try Service.stand(on: loop, store: store, socket: socket))) }.wait()
  }

  @Test("half an hour after the first secret it is over, however often it asks, and what it held is wiped")
  func holdingSecret() throws {
    let key = Handover(SecureBytes(count: 32))
    let (answered, before, after, late) = try withStand { stand in
      stand.conversation.willWipe(key)
      var answered = 0
      for _ in 0..<7 {
        stand.ask()
        if stand.answer() { answered += 1 }
        stand.pass(.minutes(4))
      }
      stand.ask()
      stand.pass(.seconds(119))
      let before = !stand.conversation.isOver && key.withSecret { $0.count } == 32
      stand.pass(.seconds(1))
      return (answered, before, stand.conversation.isOver, stand.answer())
    }
    #expect(answered == 7 && before)
    let isWiped = key.withSecret { $0.count } == nil
    #expect(after && isWiped && !late)
  }

  @Test("one that holds a secret and asks nothing any more is over then, too") func silent() throws {
    let over = try withStand { stand in
      stand.conversation.holdSecret()
      stand.pass(.seconds(1799))
      // A second secret begins no other half hour.
      stand.conversation.holdSecret()
      let before = stand.conversation.isOver
      stand.pass(.seconds(1))
      return [before, stand.conversation.isOver]
    }
    #expect(over == [false, true])
  }

  @Test("a question that nobody answers ends it after five minutes, and each answer begins them anew")
  func unanswered() throws {
    let (answers, over) = try withStand { stand in
      var answers: [Bool] = []
      for _ in 0..<2 {
        stand.ask()
        stand.pass(.seconds(299))
        answers.append(stand.answer())
      }
      stand.ask()
      stand.pass(.seconds(299))
      let before = stand.conversation.isOver
      stand.pass(.seconds(1))
      return (answers + [stand.answer()], [before, stand.conversation.isOver])
    }
    #expect(answers == [true, true, false] && over == [false, true])
  }
}

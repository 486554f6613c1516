import Glibc
import NIOCore
import NIOPosix
import Testing
import VaultBytes
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// A loop with clients of several users, which keep what they send.
final class IntakeStand: Sendable {
  /// Bytes that were taken of a client.
  struct Taken: Sendable {
    var client: Int
    var count: Int
    /// True for bytes that the loop has read.
    var isPiece: Bool
  }

  /// The part of the stand that is used on the loop only.
  final class Inside {
    private let loop: any EventLoop
    fileprivate let turns: Turns
    fileprivate let all: Clients
    fileprivate(set) var clients: [Connection] = []
    /// All that was taken, in order.
    fileprivate(set) var taken: [Taken] = []

    fileprivate init(_ loop: any EventLoop) {
      self.loop = loop
      turns = Turns(on: loop, clock: .system)
      all = Clients(owner: 0, clock: .system, openFiles: OpenFiles(limit: 1024), Configuration())
    }

    fileprivate func connect(_ uid: UInt32) throws {
      let (own, other) = try SocketPair.make()
      let client = Connection(clients.count, all.share(of: uid), other, self)
      clients.append(client)
      _ = Server.adopt(own, loop: loop) { _ in client }
    }

    /// Sends bytes from a client.
    ///
    /// - Parameter isLast: true if the client sends no more.
    func send(_ bytes: [UInt8], from index: Int, isLast: Bool = false) {
      let end = clients[index].end
      let sent = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.send(end, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      #expect(sent == bytes.count)
      if isLast { shutdown(end, Int32(SHUT_WR)) }
    }

    fileprivate func leave() { for client in clients { Glibc.close(client.end) } }
  }

  /// A client's connection.
  final class Connection: ChannelInboundHandler, ReadClient {
    typealias InboundIn = ByteBuffer

    let share: UserShare
    fileprivate let end: Int32
    private let index: Int
    private unowned let inside: Inside
    fileprivate(set) var intake: Intake?
    private(set) var bytes: [UInt8] = []
    private(set) var hasEnded = false
    fileprivate private(set) var isActive = false

    fileprivate init(_ index: Int, _ share: UserShare, _ end: Int32, _ inside: Inside) {
      (self.index, self.share, self.end, self.inside) = (index, share, end, inside)
    }

    func handlerAdded(context: ChannelHandlerContext) {
      intake = Intake(context.channel, ClientSocket(context.channel), of: self, inside.all, inside.turns)
    }

    func handlerRemoved(context: ChannelHandlerContext) { intake = nil }

    func channelActive(context: ChannelHandlerContext) { isActive = true }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let buffer = unwrapInboundIn(data)
      intake?.loopHasRead(buffer.readableBytes)
      take(Array(buffer.readableBytesView), isPiece: true)
    }

    func channelReadComplete(context: ChannelHandlerContext) { intake?.goOn() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case .inputClosed? = event as? ChannelEvent { intake?.loopHasEnded() }
    }

    func takeRest(_ bytes: RawSpan) { take(bytes.array, isPiece: false) }

    private func take(_ more: [UInt8], isPiece: Bool) {
      #expect(!hasEnded)
      bytes += more
      inside.taken.append(Taken(client: index, count: more.count, isPiece: isPiece))
    }

    func hasSentAll() {
      #expect(!hasEnded)
      hasEnded = true
    }

    var pid: Int32 { 1 }
    var standing: Room.Standing { .idle }
    var heard: Int { 0 }
    func giveWay(most: Int) {}
    func close() {}
  }

  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let inside: NIOLoopBound<Inside>

  init() throws {
    let loop = group.next()
    inside = try loop.submit { NIOLoopBound(Inside(loop), eventLoop: loop) }.wait()
  }

  /// Connects clients of a user.
  func connect(_ count: Int, of uid: UInt32) throws {
    try on { inside in for _ in 0..<count { try inside.connect(uid) } }
    try goRound { $0.clients.allSatisfy(\.isActive) }
  }

  /// Runs `body` on the loop, which reads nothing meanwhile.
  func on<R: Sendable>(_ body: @escaping @Sendable (Inside) throws -> R) throws -> R {
    try group.next().submit { [inside] in try body(inside.value) }.wait()
  }

  /// Runs the loop until the condition holds.
  func goRound(until isSo: @escaping @Sendable (Inside) -> Bool) throws {
    for _ in 0..<100_000 { if try on(isSo) { return } }
    throw SandboxError("waited in vain")
  }

  func close() {
    try? on { $0.leave() }
    try? group.syncShutdownGracefully()
    withExtendedLifetime(inside) {}
  }
}

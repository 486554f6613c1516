import Glibc
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon

/// One client's connection, in a service without a socket, on clocks that the test moves.
///
/// The service has a loop of its own; the connection's timers run when the test says so. What it is sent goes into memory,
/// where it is read at once or never.
final class ConnectionStand: Sendable {
  /// The clocks of the service: all of them show the same nanoseconds.
  fileprivate final class Hands: Sendable {
    private let time = Atomic<Int64>(1_000_000_000)
    var now: Int64 { time.load(ordering: .relaxed) }
    func move(_ nanoseconds: Int64) { time.add(nanoseconds, ordering: .relaxed) }
  }

  /// What is used on the loop alone.
  final class Inside {
    let service: Service
    let connection: Connection
    private let channel: EmbeddedChannel
    private let timers = EmbeddedEventLoop()
    private let reader = Reader()
    private let hands: Hands

    fileprivate init(_ service: Service, _ hands: Hands, pid: pid_t) throws {
      self.service = service
      self.hands = hands
      connection = Connection(peer: Peer(uid: geteuid(), pid: pid), service: service)
      connection.peerStarted = PeerProcess.start(of: getpid())
      channel = EmbeddedChannel(loop: timers)
      try channel.pipeline.syncOperations.addHandlers(reader, connection)
      // Nobody is there: it is only said to be.
      try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    }

    var isOpen: Bool { channel.isActive }
    var now: Int64 { hands.now }

    /// Has the client read nothing any more.
    func stopReading() { reader.isReading = false }

    /// Has the client read all that it was sent, and what comes.
    func goOnReading() { reader.goOn() }

    /// Brings bytes from the client; the buffer that they came in is the caller's as well.
    @discardableResult
    func send(_ text: String) -> ByteBuffer {
      let buffer = ByteBuffer(string: text)
      _ = try? channel.writeInbound(buffer)
      return buffer
    }

    /// Brings a whole call.
    func call(_ method: String, _ parameters: String = "{}", more: Bool = false) {
      send("{\"method\":\"io.vaultd.Vault.\(method)\",\"parameters\":\(parameters)\(more ? ",\"more\":true" : "")}\0")
    }

    /// The messages that the client has read since it was asked for last.
    func messages() -> [String] {
      var text = ""
      while let part = (try? channel.readOutbound(as: ByteBuffer.self)) ?? nil { text += String(buffer: part) }
      return text.split(separator: "\0").map(String.init)
    }

    func pass(_ time: TimeAmount) {
      hands.move(time.nanoseconds)
      timers.advanceTime(by: time)
    }

    fileprivate func end() { _ = try? channel.finish(acceptAlreadyClosed: true) }
  }

  /// Holds back what the client does not read: no write is done until it does.
  fileprivate final class Reader: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var isReading = true
    private var held: [(NIOAny, EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      if isReading { context.write(data, promise: promise) } else { held.append((data, promise)) }
    }

    func flush(context: ChannelHandlerContext) { if isReading { context.flush() } }

    func goOn() {
      isReading = true
      let held = held
      self.held = []
      for (data, promise) in held { context?.writeAndFlush(data, promise: promise) }
    }

    /// Saying that nothing more comes would end all of this channel; the client can still send.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      self.context = nil
      for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
      held = []
    }
  }

  private let sandbox: Sandbox
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let loop: any EventLoop
  /// Gone once the stand is closed.
  private let inside: NIOLoopBoundBox<Inside?>
  private let service: NIOLoopBound<Service>

  /// - Parameters:
  ///   - settings: the text of `vaultd.conf`.
  ///   - pid: the client's process; this one unless told otherwise.
  ///   - prepare: makes the store at that path.
  init(_ settings: String = "", pid: pid_t = getpid(), prepare: (String) throws -> Void = { _ in }) throws {
    sandbox = try Sandbox()
    try prepare(sandbox.store)
    let loop = group.next()
    self.loop = loop
    let hands = Hands()
    (inside, service) = try loop.submit { [store = sandbox.store, socket = sandbox.socket] in
      let clock = Clock(boot: { hands.now }, monotonic: { hands.now }, wall: { 2000 })
      let service = try Service.stand(on: loop, store: store, socket: socket, settings: settings, clock: clock)
      let inside = try Inside(service, hands, pid: pid)
      return (NIOLoopBoundBox(inside, eventLoop: loop), NIOLoopBound(service, eventLoop: loop))
    }.wait()
  }

  /// Runs `body` on the loop, behind all that is waiting there.
  func on<R: Sendable>(_ body: @escaping @Sendable (Inside) throws -> R) throws -> R {
    try loop.submit { [inside] in
      guard let client = inside.value else { throw SandboxError("the stand is closed") }
      return try body(client)
    }.wait()
  }

  /// Lets the service's loop go round until it is so.
  func goRound(_ what: String, until isSo: @escaping @Sendable (Inside) -> Bool) throws {
    for _ in 0..<100_000 { if try on(isSo) { return } }
    throw SandboxError("waited in vain for \(what)")
  }

  func close() {
    // On the loop: the channel is for one thread alone, also where it goes.
    try? loop.submit { [inside] in
      inside.value?.end()
      inside.value = nil
    }.wait()
    // Before the service goes: its turns may be waiting there.
    try? group.syncShutdownGracefully()
    withExtendedLifetime(service) {}
    sandbox.close()
  }
}

extension ConnectionStand {
  /// With a vault that is unlocked and has the item `a`.
  static func unlocked(_ settings: String, pid: pid_t = getpid()) throws -> ConnectionStand {
    let key = [UInt8](repeating: 7, count: 32)
    let stand = try ConnectionStand(settings, pid: pid) { store in
      let id = VaultID.random().bytes
      let key = secret(key)
      let slot = try SlotRecord.make(
        id: 1, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil, vaultKey: key,
        vaultID: id)
      try Keychain.create(
        in: store, slots: [slot], vaultID: id, vaultKey: key, bootKey: RandomBytes.secret(count: 32), now: 1)
    }
    try stand.on { client in
      guard case .open(let keychain) = client.service.vault.content else { return }
      try keychain.unlock(vaultKey: secret(key))
      try keychain.set(ItemChange(name: ItemName("a")), value: secret([1]), now: 1)
      client.service.unlocked(by: .asked, for: nil)
    }
    return stand
  }

  private static func secret(_ bytes: [UInt8]) -> SecureBytes {
    SecureBytes(count: bytes.count) { out in
      for (index, byte) in bytes.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    }
  }
}

import Glibc
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// One client's connection to a daemon without a socket, on clocks that the test moves.
///
/// The daemon has a loop of its own; the connection's timers run when the test says so. Bytes for the client go into
/// memory, where the client reads them at once or never.
final class ConnectionStand: Sendable {
  /// The daemon's clocks: `CLOCK_MONOTONIC`, and `CLOCK_BOOTTIME`, which a sleep moves as well.
  fileprivate final class Hands: Sendable {
    private let time = Atomic<Int64>(1_000_000_000)
    private let slept = Atomic<Int64>(0)
    /// The nanoseconds by which each reading of `CLOCK_MONOTONIC` advances it.
    let stride = Atomic<Int64>(0)
    var awake: Int64 { time.add(stride.load(ordering: .relaxed), ordering: .relaxed).newValue }
    var now: Int64 { awake + slept.load(ordering: .relaxed) }
    func move(_ nanoseconds: Int64) { time.add(nanoseconds, ordering: .relaxed) }
    func sleep(_ nanoseconds: Int64) { slept.add(nanoseconds, ordering: .relaxed) }
  }

  /// The part of the stand that is used on the loop only.
  final class Inside {
    let assembly: Assembly
    let connection: VarlinkConnection
    /// An object that a test keeps for a later look.
    var kept: AnyObject?
    /// Another such object.
    var keptToo: AnyObject?
    /// The answers that a test collects.
    var answers: [String] = []
    private let channel: EmbeddedChannel
    private let timers: EmbeddedEventLoop
    private let reader = Reader()
    private let hands: Hands

    var vault: Vault { assembly.rooms.vault }
    var door: VarlinkDoor { assembly.door }

    /// Makes each reading of `CLOCK_MONOTONIC` advance it, so that code that reads the clock sees time pass.
    func passAtEachLook(_ time: TimeAmount) { hands.stride.store(time.nanoseconds, ordering: .relaxed) }

    /// Makes a second client of the same process.
    func another() throws -> Inside { try Inside(assembly, timers, hands, pid: getpid(), uid: geteuid()) }

    fileprivate init(_ assembly: Assembly, _ timers: EmbeddedEventLoop, _ hands: Hands, pid: pid_t, uid: uid_t) throws {
      self.assembly = assembly
      self.timers = timers
      self.hands = hands
      connection = VarlinkConnection(peer: Peer(uid: uid, gid: getegid(), pid: pid), door: assembly.door)
      connection.peerStarted = PeerProcess.start(of: getpid())
      channel = EmbeddedChannel(loop: timers)
      try channel.pipeline.syncOperations.addHandlers(reader, connection)
      // The channel has no peer; this only marks it as connected.
      try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
    }

    var isOpen: Bool { channel.isActive }
    /// True while the daemon holds a call of the client that it has not begun to handle.
    var hasWork: Bool { connection.input.inbound.hasCall || connection.input.isScheduled }
    var now: Int64 { hands.now }

    /// Unlocks the vault of ``ConnectionStand/unlocked(_:pid:uid:environment:openFiles:)``.
    func unlock() throws {
      let keychain = try vault.keychain()
      try keychain.unlock(vaultKey: ConnectionStand.secret(ConnectionStand.key))
      vault.unlocked(keychain, by: .asked, for: nil)
    }

    /// Returns all entries of the audit log, in order. A vault that is locked is unlocked first.
    func entries() throws -> [AuditEntry] {
      if vault.state.kind != .unlocked { try unlock() }
      let reader = Caller(
        door: .varlink, uid: geteuid(), groups: [], pid: 1, started: nil, unit: nil, session: nil)
      let reading = try assembly.rooms.access.readAudit(AuditFilter(), for: reader)
      defer { reading.end() }
      var entries: [AuditEntry] = []
      while true {
        let (found, isOver) = try reading.page(until: .max) { 0 }
        entries += found.map(\.entry)
        guard isOver else { continue }
        // An entry that cannot be read is only missing here.
        let faults = reading.result?.faults.map { "\($0.first ?? 0) to \($0.last ?? 0) \($0.text)" }
        if try !vault.keychain().hasFailed { #expect(faults == []) }
        return entries
      }
    }

    /// Makes the client stop reading.
    func stopReading() { reader.isReading = false }

    /// Makes the client read everything sent so far, and everything later.
    func goOnReading() { reader.goOn() }

    /// Delivers bytes from the client, and returns the buffer that they came in.
    @discardableResult
    func send(_ text: String) -> ByteBuffer {
      let buffer = ByteBuffer(string: text)
      _ = try? channel.writeInbound(buffer)
      return buffer
    }

    /// Delivers a whole call.
    func call(_ method: String, _ parameters: String = "{}", more: Bool = false) {
      send("{\"method\":\"io.vaultd.Vault.\(method)\",\"parameters\":\(parameters)\(more ? ",\"more\":true" : "")}\0")
    }

    /// Returns the messages that the client has read since the last call of this function.
    func messages() -> [String] {
      var text = ""
      while let part = (try? channel.readOutbound(as: ByteBuffer.self)) ?? nil { text += String(buffer: part) }
      return text.split(separator: "\0").map(String.init)
    }

    func pass(_ time: TimeAmount) {
      hands.move(time.nanoseconds)
      timers.advanceTime(by: time)
    }

    /// Ends the client's connection, even if a call waits.
    func leave() { end() }

    /// Lets the machine sleep; timers do not notice that.
    func sleep(_ time: TimeAmount) { hands.sleep(time.nanoseconds) }

    fileprivate func end() { _ = try? channel.finish(acceptAlreadyClosed: true) }
  }

  /// A handler that holds back everything that the client does not read: no write completes until the client reads.
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

    /// Suppresses the end of the output, which would close this channel entirely: the client can still send.
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
  /// The loop's part of the stand; nil once the stand is closed.
  private let inside: NIOLoopBoundBox<Inside?>
  private let assembly: NIOLoopBound<Assembly>

  /// - Parameters:
  ///   - settings: the text of `vaultd.conf`.
  ///   - pid: the client's process; by default this one.
  ///   - uid: the client's user; by default the daemon's own.
  ///   - environment: the daemon's own environment.
  ///   - openFiles: the number of files that the daemon believes it may have open.
  ///   - prepare: makes the store at the given path.
  init(
    _ settings: String = "", pid: pid_t = getpid(), uid: uid_t = geteuid(), environment: [String: String] = [:],
    openFiles: UInt64 = 1024,
    prepare: (String) throws -> Void = { _ in }
  ) throws {
    sandbox = try Sandbox()
    try prepare(sandbox.store)
    let loop = group.next()
    self.loop = loop
    let hands = Hands()
    (inside, assembly) = try loop.submit { [store = sandbox.store, socket = sandbox.socket] in
      let clock = Clock(boot: { hands.now }, monotonic: { hands.awake }, wall: { 2000 })
      let timers = EmbeddedEventLoop()
      let assembly = try Assembly.stand(
        on: loop, store: store, socket: socket, settings: settings, clock: clock, timer: Timer(on: timers),
        environment: environment, openFiles: openFiles)
      let inside = try Inside(assembly, timers, hands, pid: pid, uid: uid)
      return (NIOLoopBoundBox(inside, eventLoop: loop), NIOLoopBound(assembly, eventLoop: loop))
    }.wait()
  }

  /// Runs `body` on the loop, behind all work that waits there.
  func on<R: Sendable>(_ body: @escaping @Sendable (Inside) throws -> R) throws -> R {
    try loop.submit { [inside] in
      guard let client = inside.value else { throw SandboxError("the stand is closed") }
      return try body(client)
    }.wait()
  }

  /// Edits the store as an adversary does while no daemon runs, and opens and unlocks the store again.
  func edit(_ statement: String) throws {
    try on { client in
      client.vault.wipe()
      client.vault.closeStore()
    }
    try sandbox.editStore(statement)
    try on { client in
      client.vault.openStore(because: .start)
      try client.unlock()
    }
  }

  /// Runs the daemon's loop until the condition holds.
  func goRound(_ what: String, until isSo: @escaping @Sendable (Inside) -> Bool) throws {
    for _ in 0..<100_000 { if try on(isSo) { return } }
    throw SandboxError("waited in vain for \(what)")
  }

  /// Lets the loop go round until the client has received something, and returns that.
  func received(_ what: String) throws -> [String] {
    for _ in 0..<100_000 {
      let told = try on { $0.messages() }
      if !told.isEmpty { return told }
    }
    throw SandboxError("waited in vain for \(what)")
  }

  func close() {
    // End the connection on the loop, because the channel belongs to a single thread.
    try? loop.submit { [inside, assembly] in
      inside.value?.end()
      inside.value = nil
      assembly.value.wipe()
    }.wait()
    // Helpers that have ended are reaped in the next turns. Beside a child that nobody reaps, exit tests of the same
    // process never end.
    for _ in 0..<10 { try? loop.submit {}.wait() }
    // The loop ends before the assembly is released, because turns of the assembly may wait there.
    try? group.syncShutdownGracefully()
    withExtendedLifetime(assembly) {}
    sandbox.close()
  }
}

extension ConnectionStand {
  /// The vault key of ``unlocked(_:pid:uid:)``.
  static let key = [UInt8](repeating: 7, count: 32)
  /// The recovery code that opens such a vault.
  static let code = newCode()

  /// Makes a recovery code, as a person types it.
  static func newCode() -> String {
    let text = RecoveryCode.random().text()
    return text.withBytes { String(decoding: $0.array, as: UTF8.self) }
  }

  /// Makes a stand with an unlocked vault that has the item `a`, and a recovery code as its only slot.
  static func unlocked(
    _ settings: String, pid: pid_t = getpid(), uid: uid_t = geteuid(), environment: [String: String] = [:],
    openFiles: UInt64 = 1024
  ) throws -> ConnectionStand {
    let stand = try ConnectionStand(
      settings, pid: pid, uid: uid, environment: environment, openFiles: openFiles
    ) { store in
      let id = VaultID.random().bytes
      let key = secret(key)
      let slot = try SlotRecord.make(
        id: 1, kind: .recovery, label: "", created: 1, secret: secret(Array(code.utf8)), kdf: nil, vaultKey: key,
        vaultID: id)
      try Keychain.create(
        in: store, slots: [slot], vaultID: id, vaultKey: key, bootKey: RandomBytes.secret(count: 32), now: 1)
    }
    try stand.on { client in
      try client.unlock()
      try client.vault.keychain().set(ItemChange(name: ItemName("a")), value: secret([1]), now: 1)
    }
    return stand
  }

  static func secret(_ bytes: [UInt8]) -> SecureBytes {
    SecureBytes(count: bytes.count) { out in
      for (index, byte) in bytes.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    }
  }
}

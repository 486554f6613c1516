internal import NIOCore
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultSigning

/// One client of the ssh-agent: takes requests in, and answers each before the next.
final class SSHAgentConnection: SecretHolder, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let door: SSHAgentDoor
  private let socket: ClientSocket
  private let peer: Peer?
  private var context: ChannelHandlerContext?
  private var peerProcess: PeerProcess?
  /// The process that connected, as far as it is known; nil where it is not answered.
  private(set) var caller: Caller?
  /// The SSH sessions that the connection comes through.
  var bindings = SessionBindings()
  /// Bytes that were read and not handled yet: they may hold a private key, or a passphrase.
  private var inbound = FrameBuffer()
  private var isProcessing = false
  /// True while a request is read where it lies: nothing is taken away there before that is done.
  private var isLending = false
  /// True from a request to the end of its answer: what the client sends meanwhile waits.
  private var isAnswering = false
  /// True once the client sends no more.
  private var isEnded = false
  var attempt: Attempt?
  /// The place among those for whom agents ask a person.
  var waiter: Waiter?
  /// True while it waits for something about an item, whose name it holds then.
  var waitsForItem = false

  init(_ channel: any Channel, _ door: SSHAgentDoor) {
    self.door = door
    socket = ClientSocket(channel)
    peer = try? socket.peer()
    super.init(in: door.vault.holders)
  }

  // MARK: What NIO calls

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    guard let peer, peer.uid == door.owner, door.admit(self), let process = PeerProcess(at: socket, peer),
      process.isAlive
    else { return close() }
    peerProcess = process
    var caller = Caller(peer, process, groups: socket.peerGroups(), door.clients.known)
    caller.door = .sshAgent
    self.caller = caller
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    defer {
      WipingAllocator.wipeInPlace(buffer)
      Stack.wipeRegisters()
    }
    guard caller != nil else { return }
    unsafe buffer.withUnsafeReadableBytes { bytes in
      // The span ends with the closure.
      inbound.append(unsafe RawSpan(_unsafeBytes: bytes))
    }
    process()
  }

  func channelInactive(context: ChannelHandlerContext) {
    stopWaiting()
    // An answer that cannot be written comes here from within the request.
    if !isLending { inbound.removeAll() }
    caller = nil
    door.leave(self)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      isEnded = true
      if !isAnswering { close() }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }

  // MARK: Requests

  /// Handles the requests that are complete, one after the other.
  private func process() {
    guard !isProcessing else { return }
    isProcessing = true
    while !isAnswering, let count = frameCount {
      isAnswering = true
      guard let line, !door.turns.mayGo(line) else {
        handle(count)
        continue
      }
      door.turns.wait(line) { [weak self] in
        guard let self else { return }
        // An answer may be written before this returns, while the request is there still.
        isProcessing = true
        handle(count)
        isProcessing = false
        process()
      }
    }
    isProcessing = false
    // One that waits for its answer is read no further: the rest waits in the socket.
    setReading(!isAnswering || inbound.count < AgentRequest.maximumFrame)
    if isEnded, !isAnswering { close() }
  }

  /// The turns of the user's requests.
  var line: Line? { peer.map { door.clients.share(of: $0).answers } }

  /// The size of the first request, once all of it is there; ends the connection where it would be too long.
  private var frameCount: Int? {
    guard inbound.count >= 4 else { return nil }
    let count = inbound.withBytes { bytes in
      // Four bytes are there, and every bit pattern is a number.
      Int(UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(as: UInt32.self)))
    }
    guard (1...AgentRequest.maximumFrame).contains(count) else {
      close()
      return nil
    }
    return inbound.count >= 4 + count ? count : nil
  }

  private func handle(_ count: Int) {
    guard let peerProcess, caller != nil else { return }
    guard peerProcess.isAlive else { return close() }
    let began = door.vault.clock.monotonic()
    defer { if let line { door.turns.charge(line, since: began) } }
    door.vault.checkDeadlines()
    defer { door.upkeep.foldLogLater() }
    isLending = true
    inbound.withBytes { bytes in
      let frame = bytes.extracting(4..<4 + count)
      do throws(SSHFormatError) { handle(try AgentRequest(frame), frame) } catch { refuse(error.reason) }
    }
    isLending = false
    if caller == nil { inbound.removeAll() } else { inbound.removeFirst(4 + count) }
  }

  private func setReading(_ isReading: Bool) {
    try? context?.channel.syncOptions?.setOption(.autoRead, value: isReading)
  }

  // MARK: Answers

  func reply(_ reply: AgentReply) { self.reply(encoded: reply.encoded()) }

  /// Sends an answer, and goes on with the next request once it is written.
  func reply(encoded bytes: [UInt8]) {
    stopWaiting()
    guard let context else { return }
    var buffer = context.channel.allocator.buffer(capacity: bytes.count)
    buffer.writeBytes(bytes)
    context.writeAndFlush(wrapOutboundOut(buffer)).assumeIsolated().whenComplete { [weak self] _ in
      guard let self else { return }
      isAnswering = false
      process()
    }
  }

  /// Refuses a request. The protocol has no room for the reason, so the log has it.
  func refuse(_ reason: String) {
    door.vault.log.info("ssh-agent: process \(peer?.pid ?? 0) was refused: \(reason)")
    reply(.failure)
  }

  func stopWaiting() {
    attempt?.callOff()
    (attempt, waiter, waitsForItem) = (nil, nil, false)
  }

  func close() {
    caller = nil
    context?.close(promise: nil)
  }

  var isStillAsking: Bool { caller != nil && peerProcess?.isAlive == true }

  // MARK: Locks

  override func letGo(for lock: Lock) {
    if lock.reach.contains(.names) {
      caller?.memory.forgetNames()
      if waitsForItem, lock.isEffective { refuse("the vault was locked meanwhile") }
    }
    // A key on its way belongs to what the lock closes.
    if lock.isEffective, inbound.count > 0, !isProcessing { close() }
    if lock.isEffective, !isProcessing { inbound.removeAll() }
  }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && caller?.memory.mayHoldNames == true
  }
}

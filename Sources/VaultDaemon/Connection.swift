internal import CLinux
internal import NIOCore
internal import VaultAPI
internal import VaultCore

/// One client: takes frames in, hands calls to the service one at a time, and sends the replies in order.
///
/// A call that cannot be answered at once holds the connection (``hold(_:)``); what the client sends meanwhile waits.
/// All of it runs on the event loop.
final class Connection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Frames handled in one go, so that a client that sends many cannot keep the loop from the others.
  private static let slice = 32

  /// Bytes that a client may send ahead of the answers.
  private static let backlog = 64 << 10

  let peer: Peer
  private let service: Service
  private let rate: RequestRate
  /// When the process of the peer's number had started at the accept; nil where the kernel knows the process itself.
  private var peerStarted: UInt64?
  private var context: ChannelHandlerContext?
  private var outbox: Outbox?
  private var socket: ClientSocket?
  private var anticipation = Anticipation()
  /// Where requests arrive that are not waited for; wiped after each.
  private var incoming = Incoming()
  private var reader = FrameReader()
  /// A call that takes long, and waits for its turn.
  private var deferred: Frame?
  private var deferredCount = 0
  /// Set while a call waits for its answer: what to do if the client goes away.
  private var onCancel: (() -> Void)?
  /// Whether the current call wants no reply.
  private var isOneway = false
  /// When the client sent something last, as ``Service/heardNext()`` counts.
  private(set) var heard = 0
  /// The bytes of frames that are held for the client, as the service knows them.
  private(set) var held = 0
  private var isReading = false
  private var isAccepting = true
  private var isScheduled = false
  private var inputClosed = false
  private var isClosing = false
  private var isLingering = false
  /// What goes on when the client has read enough.
  private var onWritable: (() -> Void)?
  private var halfFrame: Scheduled<Void>?
  private var slowReader: Scheduled<Void>?

  init(peer: Peer, service: Service) {
    self.peer = peer
    self.service = service
    rate = service.rate(of: peer)
  }

  // MARK: Who is there

  /// Whether the process that connected runs. What an ended one has left open has no authority, whoever holds it now.
  var isPeerAlive: Bool { peerProcess?.isAlive == true }

  /// Whether the process belongs to a system service. One that has ended is not believed to be anything else.
  var isSystemService: Bool { peer.isSystemService || !isPeerAlive }

  /// The session that what the client proves counts for; nil when the process that connected is gone.
  var session: AuthenticationSession? { peerProcess.flatMap { AuthenticationSession(of: peer, $0) } }

  private var peerProcess: PeerProcess? {
    service.process(of: self) { socket.flatMap { PeerProcess(at: $0, peer, started: peerStarted) } }
  }

  /// Refuses what is asked over a connection whose process has ended, and ends it.
  func disown() { refuseCalls(.denied(reason: "the process that connected has ended")) }

  // MARK: What the service calls

  /// Sends a reply; with `continues`, others follow it.
  func reply(_ value: some WireValue, continues: Bool = false) {
    reply(continues: continues) { value.write(to: &$0) }
  }

  /// Sends a reply whose parameters `write` writes, as one object.
  func reply(continues: Bool = false, _ write: (inout JSONWriter) -> Void) {
    send { $0.reply(continues: continues, parameters: write) }
    if !continues { release() }
  }

  /// Sends an error, which ends the call.
  func fail(_ fault: Fault) {
    send { $0.reply(fault) }
    release()
  }

  /// Keeps the connection for a call that will be answered later. `cancel` runs if the client goes away first.
  func hold(_ cancel: @escaping () -> Void) { onCancel = cancel }

  /// Whether a call waits for something that is not the client's to do.
  var isHeld: Bool { onCancel != nil || isScheduled }

  /// Ends it for another connection; a call that waits is told why.
  func giveWay() {
    if onCancel != nil { callOff(.tooManyConnections) }
    close()
  }

  /// Ends it for what its uid has sent too much.
  func refuseMore() {
    refuseCalls(.tooManyRequests)
    forgetFrames()
  }

  /// Ends it with an error, also where the call wants no reply.
  private func refuseCalls(_ fault: Fault) {
    isOneway = false
    callOff(fault)
    closeGently()
  }

  /// Answers a call that may be waiting, as if its client had gone.
  private func callOff(_ fault: Fault) {
    let cancel = onCancel
    onCancel = nil
    send { $0.reply(fault) }
    cancel?()
  }

  /// Runs `work` after `delay`, unless it is cancelled.
  func after(_ delay: TimeAmount, _ work: @escaping () -> Void) -> Scheduled<Void>? {
    context?.eventLoop.assumeIsolated().scheduleTask(in: delay, work)
  }

  /// Whether the client reads what it is sent. A stream is ended when it does not.
  private(set) var isKeepingUp = true

  /// Runs `work` in a later turn of the loop, once the client has read enough of what it was sent.
  func whenKeepingUp(_ work: @escaping () -> Void) {
    if isKeepingUp { service.turns.wait(work) } else { onWritable = work }
  }

  /// Sends the last reply there is, and takes the socket out of the loop's hands: what follows is for the caller to send
  /// and receive. Nil, and the connection closes, when the client has not read what was sent before, or has not waited.
  func handOver(_ value: some WireValue) -> RawSocket? {
    onCancel = nil
    guard let context, let outbox, let socket, !isClosing, !isOneway, reader.pendingCount == 0 else {
      close()
      return nil
    }
    outbox.write { $0.reply(value) }
    outbox.flush()
    let copy = outbox.isEmpty ? socket.duplicate() : nil
    isClosing = true
    context.close(mode: .all, promise: nil)
    return copy.flatMap { try? RawSocket($0, patience: Timeouts.transfer) }
  }

  /// Sends what is still to be sent and closes.
  func close() {
    guard !isClosing, let context else { return }
    isClosing = true
    outbox?.flush()
    context.close(promise: nil)
  }

  /// Sends what is still to be sent, and closes when the client has done so, or soon. A client that is still writing
  /// would meet a broken pipe otherwise, and not read why.
  private func closeGently() {
    guard !isClosing, !inputClosed, service.mayLinger, let context else { return close() }
    isClosing = true
    service.lingering += 1
    isLingering = true
    outbox?.flush()
    context.close(mode: .output, promise: nil)
    _ = after(Timeouts.linger) { [weak self] in self?.abandon() }
  }

  // MARK: What NIO calls

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let socket = ClientSocket(context.channel)
    self.socket = socket
    outbox = Outbox(context.channel, socket, plaintext: service.plaintext)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    outbox = nil
    socket = nil
    isKeepingUp = false
  }

  func channelActive(context: ChannelHandlerContext) {
    if socket?.knowsProcess == false { peerStarted = PeerProcess.start(of: peer.pid) }
    heard = service.heardNext()
    if let refusal = service.refusal(of: peer) {
      fail(refusal)
      return closeGently()
    }
    guard isPeerAlive else { return disown() }
    service.admit(self)
  }

  func channelInactive(context: ChannelHandlerContext) {
    isClosing = true
    outbox?.clear()
    forgetFrames()
    if isLingering { service.lingering -= 1 }
    halfFrame?.cancel()
    slowReader?.cancel()
    let cancel = onCancel
    onCancel = nil
    cancel?()
    service.leave(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    defer { WipingAllocator.wipeInPlace(buffer) }
    guard !isClosing else { return }
    anticipation.cameBack(now: service.clock.monotonic(), alone: service.isLastReader(self))
    buffer.withBytes { take($0) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    outbox?.flush()
    for _ in 0..<Self.slice where !lookAgain() { return }
  }

  /// Takes the client's next request if it comes at once, without a turn of the loop for it.
  private func lookAgain() -> Bool {
    let now = service.clock.monotonic()
    guard let socket, reader.pendingCount == 0, onCancel == nil, isAccepting, isKeepingUp, !isScheduled, !isClosing,
      !inputClosed, !service.check.isScheduled, !service.turns.isSpent, anticipation.looks(now: now)
    else { return false }
    var count = 0
    repeat {
      count = incoming.receive(from: socket)
    } while count == 0 && service.clock.monotonic() < now + Anticipation.patience
    anticipation.looked(found: count > 0)
    guard count > 0 else { return false }
    incoming.lend(count) { take($0) }
    outbox?.flush()
    return true
  }

  private func take(_ bytes: RawSpan) {
    // What was received was copied, and may be a password whose frame never ends, or a value that nobody takes.
    defer { Stack.wipeRegisters() }
    do throws(FrameError) { try reader.append(bytes) } catch { return refuse(error) }
    heard = service.heardNext()
    isReading = true
    process()
    isReading = false
    countHeld()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    slowReader?.cancel()
    slowReader = nil
    isKeepingUp = context.channel.isWritable
    if isKeepingUp {
      if let resume = onWritable { service.turns.wait(resume) }
      onWritable = nil
      process()
    } else {
      slowReader = after(Timeouts.slowReader) { [weak self] in self?.abandon() }
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      inputClosed = true
      if isLingering { return abandon() }
      if onCancel == nil && !isScheduled { close() }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { abandon() }

  // MARK: The calls

  /// Hands over the frames that are complete, while nothing stands in the way, and until it is the others' turn.
  private func process() {
    if reader.hasFrame || deferred != nil, onCancel == nil, !isClosing, !isScheduled, isKeepingUp, !isPeerAlive {
      return disown()
    }
    var left = Self.slice
    do throws(FrameError) {
      while reader.hasFrame || deferred != nil, onCancel == nil, !isClosing, !isScheduled, isKeepingUp {
        guard left == Self.slice || left > 0 && !service.turns.isSpent else { return waitForTurn() }
        let began = service.clock.monotonic()
        guard try processNext(began) else { break }
        left -= 1
        service.turns.charge(service.clock.monotonic() - began)
      }
    } catch {
      return refuse(error)
    }
    watchHalfFrame()
    holdBack()
    if inputClosed && onCancel == nil && !isScheduled && !reader.hasFrame { close() }
  }

  /// Handles one call; false when it has to wait.
  private func processNext(_ now: Int64) throws(FrameError) -> Bool {
    if deferred == nil {
      guard rate.take(now: now) else {
        schedule(after: .nanoseconds(rate.delay(now: now)))
        return false
      }
      let before = reader.pendingCount
      deferred = try reader.next()
      deferredCount = before - reader.pendingCount
    }
    guard let frame = deferred.take() else { return false }
    if service.turns.isSpent, takesLong(frame) {
      deferred = consume frame
      waitForTurn()
      return false
    }
    handle(frame)
    // The client waits for this, and not for us to tidy up.
    if !reader.hasFrame { outbox?.flush() }
    reader.takeBack(frame)
    deferredCount = 0
    return true
  }

  private func takesLong(_ frame: borrowing Frame) -> Bool {
    guard let call = try? Call(frame) else { return false }
    return MethodName(frame, call.method)?.takesLong ?? false
  }

  private func handle(_ frame: borrowing Frame) {
    do throws(ParameterError) {
      let call = try Call(frame)
      isOneway = call.oneway
      try service.handle(call, frame, from: self)
    } catch {
      fail(.invalid(error.parameter))
    }
  }

  private func schedule(after delay: TimeAmount) {
    isScheduled = true
    _ = after(delay) { [weak self] in self?.goOn() }
  }

  private func waitForTurn() {
    isScheduled = true
    service.turns.wait { [weak self] in self?.goOn() }
  }

  private func goOn() {
    isScheduled = false
    process()
    countHeld()
  }

  /// The held call is over: go on with what came meanwhile, after this reply is out.
  private func release() {
    guard onCancel != nil else { return }
    onCancel = nil
    // With nothing to go on with, the next request is not to wait behind the work of others.
    if reader.hasFrame || inputClosed || !isAccepting { waitForTurn() }
  }

  /// Sends what `write` writes, together with the other replies to what was read at once.
  private func send(_ write: (inout JSONWriter) -> Void) {
    guard let outbox, !isClosing, !isOneway else { return }
    outbox.write(write)
    if !isReading || outbox.isFull { outbox.flush() }
  }

  /// A frame that cannot be read ends the connection: what follows it cannot be trusted to be a frame.
  private func refuse(_ error: FrameError) {
    isOneway = false
    fail(Fault(error))
    closeGently()
  }

  /// Tells the service how much is held of frames.
  private func countHeld() {
    let now = reader.pendingCount + deferredCount
    guard now != held else { return }
    let more = now - held
    held = now
    service.count(more, of: self)
  }

  private func forgetFrames() {
    reader = FrameReader()
    deferred = nil
    deferredCount = 0
    countHeld()
  }

  private func abandon() { context?.close(mode: .all, promise: nil) }

  /// Stops reading while whole frames wait to be handled, so that a client cannot fill our memory with them.
  private func holdBack() {
    let shouldRead = !reader.hasFrame || reader.pendingCount < Self.backlog
    guard shouldRead != isAccepting, let context else { return }
    isAccepting = shouldRead
    try? context.channel.syncOptions?.setOption(.autoRead, value: shouldRead)
  }

  private func watchHalfFrame() {
    if reader.pendingCount == 0 || reader.hasFrame {
      halfFrame?.cancel()
      halfFrame = nil
    } else if halfFrame == nil {
      halfFrame = after(Timeouts.halfFrame) { [weak self] in self?.abandon() }
    }
  }
}

extension ByteBuffer {
  /// Lends the readable bytes.
  func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    var result: Result<R, E>?
    // The span ends with the closure.
    unsafe withUnsafeReadableBytes { pointer in
      let bytes = unsafe RawSpan(_unsafeBytes: pointer)
      do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
    }
    guard let result else { preconditionFailure("withUnsafeReadableBytes did not call its closure") }
    return try result.get()
  }
}

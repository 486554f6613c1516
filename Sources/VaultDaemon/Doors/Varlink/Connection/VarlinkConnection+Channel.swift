internal import NIOCore
internal import VaultService
internal import VaultWire

/// The handlers that NIO calls when the client has connected, has sent bytes, has read, or is gone.
extension VarlinkConnection {
  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let socket = self.socket ?? ClientSocket(context.channel)
    self.socket = socket
    let outbox = Outbox(
      context.channel, socket, of: plaintextClient, share, plaintext: door.plaintext, clock: door.vault.clock)
    outbox.onProgress = { [weak self] in self?.clientHasRead() }
    self.outbox = outbox
    intake = Intake(context.channel, socket, of: self, clients, door.turns)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    outbox = nil
    intake = nil
    socket = nil
    // NIO cleans up closed channels one after the other, so other users are served in between.
    lookAround(amongEvents: false)
  }

  func channelActive(context: ChannelHandlerContext) {
    defer { lookAround(amongEvents: true) }
    input.heard = clients.heardNext()
    guard door.entrance.admit(self) == .admitted else { return close() }
    // If the kernel identifies the process itself, the process can be examined later, in the turn of its uid.
    guard clients.areProcessesTold, !door.turns.mayGo(share.answers, isShort: true) else {
      // Most clients send their request as they connect, so it has arrived by now.
      meet()
      if door.turns.mayGo(share.answers, isShort: true) { _ = takeDirectly() }
      return
    }
    input.isScheduled = true
    door.turns.wait(share.answers) { [weak self] in
      guard let self, self.context != nil, !isClosing else { return }
      meet()
      lookAround(amongEvents: false)
      goOn(isTurn: true)
    }
  }

  /// Collects the facts about the process that connected. If that process has ended, the calls on its connection are
  /// refused as they come.
  private func meet() {
    let began = door.vault.clock.monotonic()
    defer { door.turns.charge(share.answers, since: began) }
    guard let process = peerProcess else {
      isOrphaned = true
      return
    }
    peerStarted = process.started
    clients.areProcessesTold = process.started == nil
    caller = Caller(peer, process, groups: socket?.peerGroups() ?? [], clients.known)
    noteStanding()
  }

  /// Notes whether the client's user has any right, on which the user's share depends.
  func noteStanding() { share.note(door.access.isKnown(caller), door.access.revision) }

  func channelInactive(context: ChannelHandlerContext) {
    beginClosing()
    outbox?.clear()
    if isLingering { clients.lingered(share) }
    input.halfFrame?.cancel()
    let cancel = current.onCancel
    current.onCancel = nil
    cancel?()
    door.vault.audit.leave(for: caller)
    door.entrance.leave(self)
    door.events.remove(ObjectIdentifier(self))
    // When many connections close at once, NIO would free everything that belongs to them in one go.
    let channel = context.channel
    guard door.turns.isMixed, clients.putsOffFreeing() else { return }
    door.turns.wait(share.answers) { [clients] in
      withExtendedLifetime(channel) {}
      clients.hasFreed()
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    defer { WipingAllocator.wipeInPlace(buffer) }
    guard !isClosing else { return }
    input.anticipation.cameBack(now: door.vault.clock.monotonic())
    intake?.loopHasRead(buffer.readableBytes)
    buffer.withBytes { take($0) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    outbox?.flush()
    lookAround(amongEvents: true)
    if !isClosing { intake?.goOn() }
    for _ in 0..<Self.slice where !lookAgain() { return }
  }

  /// Charges the loop's work for this connection, and serves other users before the loop turns to the next connection.
  /// Call this only in a handler that NIO calls, or in a turn of this connection, and never in the middle of other
  /// work, because requests are handled here.
  ///
  /// - Parameter amongEvents: true while the loop goes through the sockets that are ready.
  private func lookAround(amongEvents: Bool) {
    guard door.turns.isMixed else { return }
    door.turns.chargeLoop(share.answers)
    clients.lookAround(beside: share, amongEvents: amongEvents)
  }

  /// Takes the client's next request if it has arrived and nothing stands in its way.
  ///
  /// - Parameter amongEvents: true while the loop goes through the ready sockets, which may include the client's. NIO
  ///   treats a ready socket without bytes as an error, so reading is paused until the loop looks again.
  func lookIn(amongEvents: Bool) {
    guard canTakeMore, door.turns.isNext(share.answers), takeDirectly(isTurn: true), amongEvents, !input.isPaused,
      let context
    else { return }
    input.isPaused = true
    readOn()
    context.eventLoop.assumeIsolated().execute { [weak self] in
      self?.input.isPaused = false
      self?.readOn()
    }
  }

  /// Switches the loop's reading on or off.
  func readOn() { intake?.isAllowed = input.isAccepting && !input.isPaused }

  func takeRest(_ bytes: RawSpan) {
    guard !isClosing else { return }
    take(bytes)
    outbox?.flush()
  }

  func hasSentAll() {
    input.isEnded = true
    if isLingering { return abandon() }
    if current.onCancel == nil && !input.isScheduled { closeOnceRead() }
  }

  /// True when the client's next request is the next thing to do for it.
  private var canTakeMore: Bool {
    input.inbound.pendingCount == 0 && current.onCancel == nil && input.isAccepting && isKeepingUp && !input.isScheduled
      && !isClosing && !input.isEnded && !input.isProcessing
  }

  /// Takes the client's next request if it comes at once, without a turn of the loop for it.
  private func lookAgain() -> Bool {
    let now = door.vault.clock.monotonic()
    guard canTakeMore, !door.upkeep.runner.isBusy, door.turns.mayGo(share.answers), input.anticipation.looks(now: now)
    else { return false }
    let isTaken = Anticipation.poll(from: now, door.vault.clock) { takeDirectly() }
    input.anticipation.looked(found: isTaken)
    return isTaken
  }

  /// Takes the bytes that the client has sent by now, without a turn of the loop; false when there are none.
  private func takeDirectly(isTurn: Bool = false) -> Bool {
    guard let socket, clients.takeIncoming(from: socket, { take($0, isTurn: isTurn) }) else { return false }
    outbox?.flush()
    return true
  }

  /// Continues the work that waited for the client to read.
  private func clientHasRead() {
    if isClosing { return closeOutput() }
    if isKeepingUp, let resume = onWritable {
      onWritable = nil
      door.turns.wait(share.works, resume)
    }
    process()
    countHeld()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { intake?.loopHasEnded() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    abandon()
    lookAround(amongEvents: true)
  }
}

extension ByteBuffer {
  /// Lends the readable bytes.
  fileprivate func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
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

internal import NIOCore
internal import VaultAPI

/// The handlers that NIO calls: the client is there, has sent something, reads again, and is gone.
extension Connection {
  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let socket = ClientSocket(context.channel)
    self.socket = socket
    let outbox = Outbox(
      context.channel, socket, process: peer.pid, plaintext: service.plaintext, clock: service.clock)
    outbox.onProgress = { [weak self] in self?.clientHasRead() }
    self.outbox = outbox
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    outbox = nil
    socket = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    heard = service.heardNext()
    if let refusal = service.refusal(of: peer) {
      fail(refusal)
      return closeGently()
    }
    guard let process = peerProcess, process.isAlive else { return disown() }
    peerStarted = process.started
    service.admit(self)
  }

  func channelInactive(context: ChannelHandlerContext) {
    beginClosing()
    outbox?.clear()
    if isLingering { service.lingering -= 1 }
    halfFrame?.cancel()
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
    guard let socket, inbound.pendingCount == 0, onCancel == nil, isAccepting, isKeepingUp, !isScheduled, !isClosing,
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

  /// Goes on with what waited for the client to read what it was sent.
  private func clientHasRead() {
    if isClosing { return closeOutput() }
    if isKeepingUp, let resume = onWritable {
      onWritable = nil
      service.turns.wait(resume)
    }
    process()
    countHeld()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      inputClosed = true
      if isLingering { return abandon() }
      if onCancel == nil && !isScheduled { closeOnceRead() }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { abandon() }
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

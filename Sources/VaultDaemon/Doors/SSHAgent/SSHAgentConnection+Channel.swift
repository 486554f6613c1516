internal import NIOCore
internal import VaultModel
internal import VaultService
internal import VaultSigning

/// The handlers that NIO calls when the client has connected, has sent bytes, or is gone.
extension SSHAgentConnection {
  /// The number of requests that are taken in one go, so that a client that sends many cannot keep the loop from other
  /// clients.
  private static let slice = 32

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    intake = Intake(context.channel, socket, of: self, door.clients, door.turns)
  }

  func handlerRemoved(context: ChannelHandlerContext) { (self.context, intake) = (nil, nil) }

  func channelActive(context: ChannelHandlerContext) {
    guard peer.uid == door.owner else { return close() }
    guard door.admits(self) else {
      if share.mayTell(now: door.vault.clock.monotonic()) { log("all connections wait for their answers") }
      return close()
    }
    guard let process = PeerProcess(at: socket, peer), process.isAlive else {
      // The first request is refused, and has its entry.
      caller = Caller(unknown: peer, by: .sshAgent)
      return
    }
    peerProcess = process
    var caller = Caller(peer, process, groups: socket.peerGroups(), door.clients.known)
    caller.door = .sshAgent
    self.caller = caller
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    defer { WipingAllocator.wipeInPlace(buffer) }
    anticipation.cameBack(now: door.vault.clock.monotonic())
    intake?.loopHasRead(buffer.readableBytes)
    unsafe buffer.withUnsafeReadableBytes { bytes in
      // The span ends with the closure.
      take(unsafe RawSpan(_unsafeBytes: bytes))
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    intake?.goOn()
    for _ in 0..<Self.slice where !lookAgain() { return }
  }

  func takeRest(_ bytes: RawSpan) { take(bytes) }

  func hasSentAll() {
    isEnded = true
    if !isAnswering { close() }
  }

  /// Takes the client's next request if it comes at once, without a turn of the loop for it.
  private func lookAgain() -> Bool {
    let now = door.vault.clock.monotonic()
    guard caller != nil, !isAnswering, !isEnded, inbound.count == 0, !door.upkeep.runner.isBusy,
      door.turns.mayGo(line), anticipation.looks(now: now)
    else { return false }
    let isTaken = Anticipation.poll(from: now, door.vault.clock) {
      door.clients.takeIncoming(from: socket) { take($0) }
    }
    anticipation.looked(found: isTaken)
    return isTaken
  }

  func channelInactive(context: ChannelHandlerContext) {
    stopWaiting()
    inbound.removeAll()
    forgetCaller()
    door.entrance.leave(self)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { intake?.loopHasEnded() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { close() }
}

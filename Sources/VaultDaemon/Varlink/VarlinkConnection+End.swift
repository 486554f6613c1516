internal import CLinux
internal import NIOCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The ends of a connection: with all that was sent, with an error for the call that waits, in somebody else's hands,
/// or at once.
extension VarlinkConnection {
  /// Refuses what is asked over a connection whose process has ended, and ends it.
  func disown() { refuseCalls(Refusal.disowned) }

  /// Ends it for another connection, where there are `most`; a call that waits is told why.
  func giveWay(most: Int) {
    if current.onCancel != nil { callOff(Fault.tooManyConnections(uid: Int(peer.uid), limit: most)) }
    close()
  }

  /// Ends it for what its uid has sent too much.
  func refuseMore() { refuseCalls(Fault.tooManyRequests(uid: Int(peer.uid))) }

  /// A frame that cannot be read ends the connection: what follows it cannot be trusted to be a frame.
  func refuse(_ error: FrameError) {
    current.isOneway = false
    fail(Fault(error))
    closeGently()
  }

  /// Ends it with an error, also where the call wants no reply.
  func refuseCalls(_ refusal: Refusal) { refuseCalls(Fault(refusal)) }

  func refuseCalls(_ fault: Fault) {
    current.isOneway = false
    callOff(fault)
    closeGently()
  }

  /// Answers a call that may be waiting, as if its client had gone.
  private func callOff(_ fault: Fault) {
    let cancel = current.onCancel
    current.onCancel = nil
    cancel?()
    let fault = passed(fault, .cancelled)
    send { $0.reply(fault) }
  }

  /// Sends the last reply there is, and takes the socket out of the loop's hands: what follows is for the caller to send
  /// and receive. Nil, and the connection closes, when the client has not read what was sent before, or has not waited.
  func handOver(_ value: some WireValue) -> RawSocket? {
    current.onCancel = nil
    guard let process = peerProcess else {
      disown()
      return nil
    }
    guard let context, let outbox, let socket, !isClosing, !current.isOneway, input.inbound.pendingCount == 0 else {
      close()
      return nil
    }
    guard passes(isLast: true) else { return nil }
    outbox.write { $0.reply(value) }
    outbox.flush()
    let copy = outbox.isEmpty ? socket.duplicate() : nil
    beginClosing()
    context.close(mode: .all, promise: nil)
    return copy.flatMap { try? RawSocket($0, of: process, patience: Timeouts.transfer) }
  }

  /// Closes once the client has read what is still to be sent, for which it has as long as for any answer.
  func closeOnceRead() {
    outbox?.flush()
    if outbox?.isEmpty ?? true { close() }
  }

  /// Sends what the socket takes of what is still to be sent, and closes.
  func close() {
    guard !isClosing, let context else { return }
    beginClosing()
    outbox?.flush()
    context.close(promise: nil)
  }

  /// Sends what is still to be sent, and closes when the client has done so, or soon. A client that is still writing
  /// would meet a broken pipe otherwise, and not read why.
  func closeGently() {
    guard !isClosing, !input.isEnded, context != nil, clients.mayLinger(share) else { return close() }
    beginClosing()
    isLingering = true
    outbox?.flush()
    closeOutput()
    _ = after(Timeouts.linger) { [weak self] in self?.abandon() }
  }

  /// Handles no more calls. What has come is wiped, and so is what still comes: a password or a value may be in it, and no
  /// lock would look for it here.
  func beginClosing() {
    isClosing = true
    forgetFrames()
  }

  /// Says that nothing more is sent, when the socket has taken all.
  func closeOutput() {
    if isLingering, outbox?.isEmpty ?? true { context?.close(mode: .output, promise: nil) }
  }

  /// Closes at once, whatever is still to be sent.
  func abandon() { context?.close(mode: .all, promise: nil) }
}

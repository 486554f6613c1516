internal import CLinux
internal import NIOCore
internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The ways in which a connection ends: after everything is sent, with an error for the waiting call, by a handover of
/// its socket, or at once.
extension VarlinkConnection {
  /// Refuses the calls on a connection whose process has ended, and ends the connection.
  ///
  /// - Parameter isBetweenCalls: true while calls are being handled, but none at this moment.
  func disown(betweenCalls isBetweenCalls: Bool = false) {
    // While a call is handled, its frame is being read, and nothing behind it is.
    let mayRead = isBetweenCalls || !input.isProcessing
    refuseCalls(mayRead ? recordArrived(.disowned) : Fault(.disowned))
  }

  /// Records the refusal of each call that has arrived and has not begun. The entries are written together.
  ///
  /// - Returns: the error to send, which is another one if the entries cannot be written.
  private func recordArrived(_ refusal: Refusal) -> Fault {
    var refused: [VaultService.Caller] = []
    // A call that has begun ends with the connection.
    var hasBegun = input.inbound.hasDeferred && door.vault.audit.hasBegun(for: caller)
    while let frame = try? input.inbound.next() {
      let ended = caller.whenEnded()
      if !hasBegun, door.refuses(frame, with: refusal, for: ended) { refused.append(ended) }
      hasBegun = false
      input.inbound.takeBack(frame)
    }
    return refused.reduce(Fault(refusal)) { fault, caller in passed(fault, refusal.outcome, for: caller) }
  }

  /// Ends the connection to make room for another, at the limit of `most`. A waiting call is told the reason.
  func giveWay(most: Int) {
    if current.onCancel != nil { callOff(Fault.tooManyConnections(uid: Int(peer.uid), limit: most)) }
    close()
  }

  /// Ends the connection because its uid has sent too much.
  func refuseMore() { refuseCalls(Fault.tooManyRequests(uid: Int(peer.uid))) }

  /// Ends the connection after a frame that cannot be read, because the bytes after it may not be a frame.
  func refuse(_ error: FrameError) {
    current.isOneway = false
    fail(Fault(error))
    closeGently()
  }

  /// Ends the connection with an error, even if the call wants no reply.
  func refuseCalls(_ refusal: Refusal) { refuseCalls(Fault(refusal), refusal.outcome) }

  /// - Parameter outcome: the outcome of a call that may be waiting, for the audit log; `cancelled` if the client
  ///   caused the end.
  private func refuseCalls(_ fault: Fault, _ outcome: AuditOutcome = .cancelled) {
    current.isOneway = false
    callOff(fault, outcome)
    closeGently()
  }

  /// Ends the call that may be waiting, and sends the error.
  private func callOff(_ fault: Fault, _ outcome: AuditOutcome = .cancelled) {
    let cancel = current.onCancel
    current.onCancel = nil
    cancel?()
    let fault = passed(fault, outcome)
    send { $0.reply(fault) }
  }

  /// Sends the last reply and takes the socket away from the loop; the caller sends and receives the bytes that follow.
  /// Returns nil, and closes the connection, when the client has not read earlier replies, or has sent bytes ahead.
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

  /// Closes the connection once the client has read the remaining replies, for which it has the usual time of an
  /// answer.
  func closeOnceRead() {
    outbox?.flush()
    if outbox?.isEmpty ?? true { close() }
  }

  /// Sends as much of the remaining replies as the socket takes, and closes.
  func close() {
    guard !isClosing, let context else { return }
    beginClosing()
    outbox?.flush()
    context.close(promise: nil)
  }

  /// Sends the remaining replies, and closes when the client has closed, or after ``Timeouts/linger``. Otherwise a
  /// client that is still writing would meet a broken pipe, and not read the reason.
  func closeGently() {
    guard !isClosing, !input.isEnded, context != nil, clients.mayLinger(share) else { return close() }
    beginClosing()
    isLingering = true
    outbox?.flush()
    closeOutput()
    _ = after(Timeouts.linger) { [weak self] in self?.abandon() }
  }

  /// Stops handling calls. Received bytes, and those still to come, are wiped: they may contain a password or a value,
  /// and no lock would look for them here.
  func beginClosing() {
    isClosing = true
    // Work that waits for the client to read may have names of items.
    onWritable = nil
    forgetFrames()
  }

  /// Ends the sending direction once the socket has taken everything.
  func closeOutput() {
    if isLingering, outbox?.isEmpty ?? true { context?.close(mode: .output, promise: nil) }
  }

  /// Closes at once, whatever is still to be sent.
  func abandon() { context?.close(mode: .all, promise: nil) }
}

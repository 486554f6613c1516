internal import NIOCore
internal import VaultBytes
internal import VaultCore
internal import VaultService
internal import VaultWire

/// Takes calls from the bytes that were read: one at a time, in their order, at the client's rate, and in turns with
/// the other clients.
extension VarlinkConnection {
  /// The number of frames handled in one go, so that a client that sends many cannot keep the loop from other clients.
  static let slice = 32
  /// The bytes that a client may send ahead of the answers; fewer if the clients of its uid have sent much.
  private static let backlog = 64 << 10
  private static let smallBacklog = 4 << 10

  func take(_ bytes: RawSpan, isTurn: Bool = false) {
    // Received bytes were copied, and may be a password whose frame never ends, or a value that nobody takes.
    defer { Stack.wipeRegisters() }
    guard !input.isRefused else { return }
    do throws(FrameError) { try input.inbound.append(bytes) } catch { return refuse(error) }
    (input.heard, input.isNew) = (clients.heard(self), false)
    input.isReading = true
    process(isTurn: isTurn)
    input.isReading = false
    countHeld()
  }

  /// Handles complete frames, while nothing stands in the way and until other users have their turn.
  ///
  /// - Parameter isTurn: true when the connection has waited for the turn that it has now.
  func process(isTurn: Bool = false) {
    var left = Self.slice
    var isKnownAlive = false
    input.isProcessing = true
    defer { isProcessed() }
    do throws(FrameError) {
      while mayHandle {
        // A call that arrived together with a lock is handled along with the lock; otherwise it would be refused.
        let mayGoOn =
          isTurn && left == Self.slice || input.lockedMeanwhile != nil || door.turns.mayGo(share.answers, isShort: true)
        guard left > 0, mayGoOn else {
          waitForTurn(in: share.answers)
          break
        }
        // The peer is checked when its call is about to be handled, not while the call waits.
        if !isKnownAlive, !isPeerAlive { return disown(betweenCalls: true) }
        isKnownAlive = true
        let began = door.vault.clock.monotonic()
        let line = input.inbound.hasDeferred ? share.works : share.answers
        // The time is charged even if the call must wait, or the frame is not a call, because the frame was read.
        defer { door.turns.charge(answer: line, orWork: share.works, since: began) }
        guard try processNext(began, isTurn: isTurn) else { break }
        left -= 1
      }
    } catch {
      return refuse(error)
    }
    watchHalfFrame()
    holdBack()
    if input.isEnded && current.onCancel == nil && !input.isScheduled && !input.inbound.hasFrame { closeOnceRead() }
  }

  private func isProcessed() {
    input.isProcessing = false
    guard let refusal = input.lockedMeanwhile else { return }
    input.lockedMeanwhile = nil
    refuseWaiting(refusal)
  }

  /// True when there is a call to handle, and nothing stands in the way.
  private var mayHandle: Bool {
    input.inbound.hasCall && current.onCancel == nil && !isClosing && !input.isScheduled && isKeepingUp
  }

  /// Handles one call; false when it must wait.
  private func processNext(_ now: Int64, isTurn: Bool) throws(FrameError) -> Bool {
    let isNew = !input.inbound.hasDeferred
    guard !isNew || share.rate.take(now: now) else {
      schedule(after: .nanoseconds(share.rate.delay(now: now)))
      return false
    }
    guard let frame = try input.inbound.next() else { return false }
    noteStanding()
    if door.access.awaitsDigest(of: caller), method(of: frame)?.audience != .lockers {
      input.inbound.putOff(frame)
      waitForDigest()
      return false
    }
    // The work that a long frame asks for is done in another turn than its reading.
    let isLong = isNew && input.inbound.currentCount > Self.backlog
    // The user's waiting answers go first, in whichever line this turn came.
    let hasTurn = isTurn && !isNew || door.turns.mayGo(share.works) && share.answers.count == 0
    if !hasTurn || door.events.isFull || isLong, method(of: frame)?.cost == .work {
      input.inbound.putOff(frame)
      waitForTurn(in: share.works, first: current.long != nil)
      return false
    }
    handle(frame)
    if current.comesAgain {
      current.comesAgain = false
      input.inbound.putOff(frame)
      if !input.isScheduled { waitForTurn(in: share.works, first: true) }
      return false
    }
    current.long = nil
    // The client waits for the reply, and not for the cleanup.
    if !input.inbound.hasFrame { outbox?.flush() }
    input.inbound.takeBack(frame)
    return true
  }

  /// Returns the method of a frame's call; nil for a frame without a known call, which is refused at once.
  private func method(of frame: borrowing Frame) -> MethodName? {
    guard let call = try? Call(frame) else { return nil }
    return MethodName(frame, call.method)
  }

  private func handle(_ frame: borrowing Frame) {
    input.isUrgent = false
    do throws(ParameterError) {
      let call = try Call(frame)
      current.isOneway = call.oneway
      try door.handle(call, frame, from: self)
    } catch {
      fail(Refusal.invalid(error.parameter))
    }
  }

  /// Handles the current call again in the user's next turn, because a part of what it needs has been prepared. It
  /// comes before the user's other works, so that only one of them at a time holds prepared parts.
  func comeAgain(with long: LongChange) { (current.long, current.comesAgain) = (long, true) }

  /// Waits until the file that the client's process runs is read, and then for a turn.
  private func waitForDigest() {
    input.isScheduled = true
    caller.memory.whenDigestIsKnown { [weak self] in
      if let self { waitForTurn(in: share.answers) }
    }
  }

  /// Handles the current call again once the file that the client's process runs is read.
  func comeAgainWithDigest() {
    current.comesAgain = true
    waitForDigest()
  }

  private func schedule(after delay: TimeAmount) {
    input.isScheduled = true
    _ = after(delay) { [weak self] in self?.goOn(isTurn: false) }
  }

  func waitForTurn(in line: Line, first isFirst: Bool = false) {
    input.isScheduled = true
    door.turns.wait(line, first: isFirst) { [weak self] in self?.goOn(isTurn: true) }
  }

  func goOn(isTurn: Bool) {
    guard !input.isRefused else { return }
    input.isScheduled = false
    process(isTurn: isTurn)
    // A client that does not read its answers keeps no prepared part; the part is prepared again later.
    if !input.isScheduled { current.long = nil }
    countHeld()
  }

  /// Reports to the ``Entrance`` how many bytes of frames the connection holds.
  func countHeld() {
    let more = input.inbound.byteCount - input.held
    guard more != 0 else { return }
    input.held += more
    door.entrance.count(more, of: self)
  }

  func forgetFrames() {
    input.inbound = Inbound()
    current.long = nil
    countHeld()
  }

  /// Stops reading while whole frames wait to be handled, so that a client can neither fill the daemon's memory with
  /// them nor keep the daemon reading when other users have their turn.
  private func holdBack() {
    let most = share.pendingTogether > Room.pendingBytes / 4 ? Self.smallBacklog : Self.backlog
    let shouldRead = !input.inbound.hasFrame || input.inbound.pendingCount < most
    guard shouldRead != input.isAccepting else { return }
    input.isAccepting = shouldRead
    readOn()
  }

  private func watchHalfFrame() {
    if input.inbound.pendingCount == 0 || input.inbound.hasFrame {
      input.halfFrame?.cancel()
      input.halfFrame = nil
    } else if input.halfFrame == nil {
      input.halfFrame = after(Timeouts.halfFrame) { [weak self] in self?.abandon() }
    }
  }
}

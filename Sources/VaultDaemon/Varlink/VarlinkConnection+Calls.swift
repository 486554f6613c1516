internal import NIOCore
internal import VaultCore
internal import VaultService
internal import VaultWire

/// The taking of calls from what was read: one at a time, in their order, at the client's rate, and in turns with the
/// other clients.
extension VarlinkConnection {
  /// Frames handled in one go, so that a client that sends many cannot keep the loop from the others.
  static let slice = 32
  /// Bytes that a client may send ahead of the answers; where it waits for its turn, a few requests.
  private static let backlog = 64 << 10
  private static let waitingBacklog = 4 << 10

  func take(_ bytes: RawSpan, isTurn: Bool = false) {
    // What was received was copied, and may be a password whose frame never ends, or a value that nobody takes.
    defer { Stack.wipeRegisters() }
    do throws(FrameError) { try input.inbound.append(bytes) } catch { return refuse(error) }
    clients.heard(self)
    input.isReading = true
    process(isTurn: isTurn)
    input.isReading = false
    countHeld()
  }

  /// Hands over the frames that are complete, while nothing stands in the way, and until it is the others' turn.
  ///
  /// - Parameter isTurn: true where it has waited for the turn that it has now.
  func process(isTurn: Bool = false) {
    var left = Self.slice
    var isKnownAlive = false
    input.isProcessing = true
    defer { isProcessed() }
    do throws(FrameError) {
      while mayHandle {
        // What came together with a lock is handled with it, or it would be refused.
        let mayGoOn =
          isTurn && left == Self.slice || input.lockedMeanwhile != nil || door.turns.mayGo(share.answers, isShort: true)
        guard left > 0, mayGoOn else {
          waitForTurn(in: share.answers)
          break
        }
        // Asked where it is about to be heard, not where it waits.
        if !isKnownAlive, !isPeerAlive { return disown() }
        isKnownAlive = true
        let began = door.vault.clock.monotonic()
        let line = input.inbound.hasDeferred ? share.works : share.answers
        // Also where it has to wait, or is no call: it was read.
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

  /// Handles one call; false when it has to wait.
  private func processNext(_ now: Int64, isTurn: Bool) throws(FrameError) -> Bool {
    let isNew = !input.inbound.hasDeferred
    // To read a long frame takes long, whatever stands in it.
    if isNew, door.turns.isSpent, input.inbound.pendingCount > Self.backlog {
      waitForTurn(in: share.works)
      return false
    }
    guard !isNew || share.rate.take(now: now) else {
      schedule(after: .nanoseconds(share.rate.delay(now: now)))
      return false
    }
    guard let frame = try input.inbound.next() else { return false }
    // What a long frame asks for is done in another turn than it was read in.
    let isLong = isNew && input.inbound.currentCount > Self.backlog
    // The user's answers that wait go first, wherever this one's turn came.
    let hasTurn = isTurn && !isNew || door.turns.mayGo(share.works) && share.answers.count == 0
    if !hasTurn || door.events.isFull || isLong, cost(of: frame) == .work {
      input.inbound.putOff(frame)
      waitForTurn(in: share.works, first: current.long != nil)
      return false
    }
    handle(frame)
    if current.comesAgain {
      current.comesAgain = false
      input.inbound.putOff(frame)
      waitForTurn(in: share.works, first: true)
      return false
    }
    current.long = nil
    // The client waits for this, and not for us to tidy up.
    if !input.inbound.hasFrame { outbox?.flush() }
    input.inbound.takeBack(frame)
    return true
  }

  /// The cost of what a frame asks for; one that asks for nothing that is known is refused at once.
  private func cost(of frame: borrowing Frame) -> MethodName.Cost {
    guard let call = try? Call(frame) else { return .answer }
    return MethodName(frame, call.method)?.cost ?? .answer
  }

  private func handle(_ frame: borrowing Frame) {
    do throws(ParameterError) {
      let call = try Call(frame)
      current.isOneway = call.oneway
      try door.handle(call, frame, from: self)
    } catch {
      fail(Refusal.invalid(error.parameter))
    }
  }

  /// Has the call that is being handled be handled again in the user's next turn, since a part of what it needs is
  /// prepared: before the user's other works, so that one of them at a time holds what is prepared.
  func comeAgain(with long: LongChange) { (current.long, current.comesAgain) = (long, true) }

  private func schedule(after delay: TimeAmount) {
    input.isScheduled = true
    _ = after(delay) { [weak self] in self?.goOn(isTurn: false) }
  }

  func waitForTurn(in line: Line, first isFirst: Bool = false) {
    input.isScheduled = true
    door.turns.wait(line, first: isFirst) { [weak self] in self?.goOn(isTurn: true) }
  }

  func goOn(isTurn: Bool) {
    input.isScheduled = false
    process(isTurn: isTurn)
    // A client that does not read its answers keeps nothing that is prepared: it is prepared again.
    if !input.isScheduled { current.long = nil }
    countHeld()
  }

  /// Tells the service how much is held of frames.
  func countHeld() {
    let more = input.inbound.byteCount - input.held
    guard more != 0 else { return }
    input.held += more
    clients.count(more, of: self)
  }

  func forgetFrames() {
    input.inbound = Inbound()
    current.long = nil
    countHeld()
  }

  /// Stops reading while whole frames wait to be handled, so that a client cannot fill our memory with them, nor keep us
  /// reading when it is the others' turn.
  private func holdBack() {
    let isLittle = input.isScheduled || share.pendingBytes > Room.pendingBytes / 4
    let most = isLittle ? Self.waitingBacklog : Self.backlog
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

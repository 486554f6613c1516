internal import NIOCore
internal import VaultAPI
internal import VaultCore

/// The taking of calls from what was read: one at a time, in their order, at the client's rate, and in turns with the
/// other clients.
extension Connection {
  /// Frames handled in one go, so that a client that sends many cannot keep the loop from the others.
  static let slice = 32
  /// Bytes that a client may send ahead of the answers.
  private static let backlog = 64 << 10

  func take(_ bytes: RawSpan) {
    // What was received was copied, and may be a password whose frame never ends, or a value that nobody takes.
    defer { Stack.wipeRegisters() }
    do throws(FrameError) { try inbound.append(bytes) } catch { return refuse(error) }
    heard = service.heardNext()
    isReading = true
    process()
    isReading = false
    countHeld()
  }

  /// Hands over the frames that are complete, while nothing stands in the way, and until it is the others' turn.
  func process() {
    if mayHandle, !isPeerAlive { return disown() }
    var left = Self.slice
    isProcessing = true
    defer { isProcessed() }
    do throws(FrameError) {
      while mayHandle {
        // What came together with a lock is handled with it, or it would be refused.
        let mayGoOn = !service.turns.isSpent || lockedMeanwhile != nil
        guard left == Self.slice || left > 0 && mayGoOn else { return waitForTurn() }
        let began = service.clock.monotonic()
        // Also where it has to wait, or is no call: it was read.
        defer { service.turns.charge(service.clock.monotonic() - began) }
        guard try processNext(began) else { break }
        left -= 1
      }
    } catch {
      return refuse(error)
    }
    watchHalfFrame()
    holdBack()
    if inputClosed && onCancel == nil && !isScheduled && !inbound.hasFrame { closeOnceRead() }
  }

  private func isProcessed() {
    isProcessing = false
    guard let fault = lockedMeanwhile else { return }
    lockedMeanwhile = nil
    refuseWaiting(fault)
  }

  /// True when there is a call to handle, and nothing stands in the way.
  private var mayHandle: Bool { inbound.hasCall && onCancel == nil && !isClosing && !isScheduled && isKeepingUp }

  /// Handles one call; false when it has to wait.
  private func processNext(_ now: Int64) throws(FrameError) -> Bool {
    let isNew = !inbound.hasDeferred
    // To read a long frame takes long, whatever stands in it.
    if isNew, service.turns.isSpent, inbound.pendingCount > Self.backlog {
      waitForTurn()
      return false
    }
    guard !isNew || rate.take(now: now) else {
      schedule(after: .nanoseconds(rate.delay(now: now)))
      return false
    }
    guard let frame = try inbound.next() else { return false }
    // What a long frame asks for is done in another turn than it was read in.
    let isLong = isNew && inbound.currentCount > Self.backlog
    if service.turns.isSpent || service.events.isFull || isLong, takesLong(frame) {
      inbound.putOff(frame)
      waitForTurn()
      return false
    }
    handle(frame)
    // The client waits for this, and not for us to tidy up.
    if !inbound.hasFrame { outbox?.flush() }
    inbound.takeBack(frame)
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

  func waitForTurn() {
    isScheduled = true
    service.turns.wait { [weak self] in self?.goOn() }
  }

  private func goOn() {
    isScheduled = false
    process()
    countHeld()
  }

  /// Tells the service how much is held of frames.
  func countHeld() {
    let more = inbound.byteCount - held
    guard more != 0 else { return }
    held += more
    service.count(more, of: self)
  }

  func forgetFrames() {
    inbound = Inbound()
    countHeld()
  }

  /// Stops reading while whole frames wait to be handled, so that a client cannot fill our memory with them.
  private func holdBack() {
    let shouldRead = !inbound.hasFrame || inbound.pendingCount < Self.backlog
    guard shouldRead != isAccepting, let context else { return }
    isAccepting = shouldRead
    try? context.channel.syncOptions?.setOption(.autoRead, value: shouldRead)
  }

  private func watchHalfFrame() {
    if inbound.pendingCount == 0 || inbound.hasFrame {
      halfFrame?.cancel()
      halfFrame = nil
    } else if halfFrame == nil {
      halfFrame = after(Timeouts.halfFrame) { [weak self] in self?.abandon() }
    }
  }
}

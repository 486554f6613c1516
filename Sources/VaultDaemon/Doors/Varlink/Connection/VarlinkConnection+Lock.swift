internal import VaultService
internal import VaultWire

// The effect of a lock on a connection: content that the lock wipes must not remain on its way to or from a client.
extension VarlinkConnection {
  /// Ends the connection if the client has not read all content that the lock wipes. A call that has arrived but has
  /// not begun, or is incomplete, is refused together with the connection, because it may contain a value or a
  /// password.
  func lock(_ lock: Lock) {
    outbox?.flush()
    if let outbox, outbox.hasUnread(ReplyContent(wipedBy: lock), names: lock.reach.contains(.names)) {
      outbox.clear()
      forgetFrames()
      return abandon()
    }
    let refusal = Refusal.locked(LockState(kind: .locked, cause: lock.cause, since: door.vault.clock.wall()))
    let holdsName = current.holdsName || current.asked?.wait?.tellsName == true
    if lock.reach.contains(.names), holdsName { return refuseHeld(refusal) }
    // Calls that arrived together with the current one may still be handled at once.
    if input.isProcessing { input.lockedMeanwhile = refusal } else { refuseWaiting(refusal) }
  }

  /// Ends the waiting call that holds a name. Its entry is made while the name is known. The connection ends once the
  /// lock is done, so that the entries of all connections are written together.
  private func refuseHeld(_ refusal: Refusal) {
    let cancel = current.onCancel
    current.onCancel = nil
    cancel?()
    door.vault.audit.willRefuse(refusal.outcome, for: caller)
    refuseCallsLater(refusal)
  }

  /// Forgets the calls that were received, and ends the connection once the lock is done.
  private func refuseCallsLater(_ refusal: Refusal) {
    forgetFrames()
    (input.isScheduled, input.isRefused) = (true, true)
    door.vault.hooks.afterwards { [weak self] in self?.refuseCalls(refusal) }
  }

  /// Refuses and wipes received calls that are not handled. If the refusal has an entry, the connection ends once the
  /// lock is done, so that the entries of all connections are written together.
  func refuseWaiting(_ refusal: Refusal) {
    guard input.inbound.isWaiting else { return }
    guard recordWaiting(refusal) else { return refuseCalls(refusal) }
    refuseCallsLater(refusal)
  }

  /// Records the refusal of the first call that waits; false if no entry is needed for the refusal, because the call
  /// has begun or the frame is not a call.
  private func recordWaiting(_ refusal: Refusal) -> Bool {
    guard let frame = try? input.inbound.next() else { return door.refusesPart(with: refusal, from: self) }
    let isRecorded = door.refuses(frame, with: refusal, for: caller)
    input.inbound.takeBack(frame)
    return isRecorded
  }
}

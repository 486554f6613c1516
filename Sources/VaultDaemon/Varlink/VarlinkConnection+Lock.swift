internal import VaultService
internal import VaultWire

// The effect of a lock on a connection: what it wipes of the vault is not to stay on its way to a client or from one.
extension VarlinkConnection {
  /// Ends the connection where the client has left unread what the lock wipes. A call that has come, and is not begun, or
  /// not whole, is refused, and the connection with it: it may have a value or a password in it.
  func lock(_ lock: Lock) {
    outbox?.flush()
    if let outbox, outbox.hasUnread(ReplyContent(wipedBy: lock), names: lock.reach.contains(.names)) {
      outbox.clear()
      forgetFrames()
      return abandon()
    }
    let refusal = Refusal.locked(LockState(kind: .locked, cause: lock.cause, since: door.vault.clock.wall()))
    if lock.reach.contains(.names), current.holdsName { return refuseCalls(refusal) }
    // What came together with the call that is being handled may be handled at once, too.
    if input.isProcessing { input.lockedMeanwhile = refusal } else { refuseWaiting(refusal) }
  }

  /// Refuses what has come and is not handled, and wipes it: where an entry tells of it, once the lock is done, so that
  /// those of all connections are written together.
  func refuseWaiting(_ refusal: Refusal) {
    guard input.inbound.isWaiting else { return }
    guard let frame = try? input.inbound.next() else { return refuseCalls(refusal) }
    let isRecorded = door.refuses(frame, with: refusal, from: self)
    input.inbound.takeBack(frame)
    guard isRecorded else { return refuseCalls(refusal) }
    forgetFrames()
    input.isScheduled = true
    door.vault.hooks.afterwards { [weak self] in self?.refuseCalls(refusal) }
  }
}

internal import VaultAPI

/// The effect of a lock on a connection: what it wipes of the vault is not to stay on its way to a client or from one.
extension Connection {
  /// Ends the connection where the client has left unread what the lock wipes: some of `content`, or, with `names`,
  /// anything. A call that has come, and is not begun, or not whole, is refused with `fault`, and the connection with it:
  /// it may have a value or a password in it.
  func lock(wiping content: ReplyContent, names: Bool, _ fault: Fault) {
    outbox?.flush()
    if let outbox, outbox.hasUnread(content, names: names) {
      outbox.clear()
      forgetFrames()
      return abandon()
    }
    // What came together with the call that is being handled may be handled at once, too.
    if isProcessing { lockedMeanwhile = fault } else { refuseWaiting(fault) }
  }

  /// Refuses what has come and is not handled, and wipes it.
  func refuseWaiting(_ fault: Fault) {
    guard inbound.isWaiting else { return }
    refuseCalls(fault)
  }
}

extension Service {
  /// Wipes what a lock wipes of what clients were sent and of what they have sent, whoever they are.
  func wipeConnections(afterFirstUnlock: Bool) {
    let content: ReplyContent = afterFirstUnlock ? [.whenUnlocked, .afterFirstUnlock] : .whenUnlocked
    let fault = Fault.locked(state: state.kind.rawValue, cause: state.cause.text)
    for connection in connections.values {
      connection.lock(wiping: content, names: configuration.hideNames, fault)
    }
  }
}

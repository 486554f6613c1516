internal import NIOCore
internal import VaultAPI
internal import VaultStore

/// A backup or a restore while its bytes are on their way, on a thread of its own.
final class Transfer {
  enum Kind {
    case backup, restore
  }

  let kind: Kind
  private let socket: RawSocket
  /// The error that its client is told if it was called off.
  private(set) var fault = Fault.cancelled

  /// True when it is a backup of what was salvaged.
  let isOfSalvage: Bool

  init(_ kind: Kind, _ socket: RawSocket, isOfSalvage: Bool = false) {
    self.kind = kind
    self.isOfSalvage = isOfSalvage
    self.socket = socket
  }

  /// Has its thread wipe the keys it holds, and end.
  func callOff(because fault: Fault) {
    self.fault = fault
    socket.callOff()
  }
}

extension Service {
  /// The reason why none can begin now.
  var transferObstacle: Fault? {
    guard let transfer else { return nil }
    return .busy(reason: transfer.kind == .backup ? "another backup is being made" : "a backup is being restored")
  }

  /// The reason why no vault can be made now.
  var restoreObstacle: Fault? { transfer?.kind == .restore ? transferObstacle : nil }

  /// Calls a backup off when the log beside the store has grown too much meanwhile: it can be emptied only afterwards.
  func watchLog(of transfer: Transfer, _ keychain: Keychain) {
    loop.assumeIsolated().scheduleTask(in: Timeouts.logInterval) { [weak self, weak transfer, weak keychain] in
      guard let self, let transfer, let keychain, self.transfer === transfer else { return }
      if let sizes = try? keychain.backupSizes(), sizes.log > max(Timeouts.logSize, sizes.store) {
        let reason =
          "the backup was read too slowly: the log of changes beside the store grew to \(sizes.log >> 20) MiB"
        return transfer.callOff(because: .busy(reason: reason))
      }
      watchLog(of: transfer, keychain)
    }
  }

  /// Ends what is under way for a lock of this cause, if that wipes its keys. A restore has some, too.
  func callOffTransfer(because cause: LockState.Cause) {
    guard let transfer, cause.isSleep, !configuration.keepAcrossSleep else { return }
    transfer.callOff(
      because: transfer.kind == .backup
        ? .locked(state: LockState.Kind.locked.rawValue, cause: cause.text) : .cancelled)
  }

  /// Tells the client how it ended: `before` and then one message. It is not waited for long.
  func conclude(
    _ socket: RawSocket, after before: [UInt8] = [], _ message: @escaping @Sendable (inout JSONWriter) -> Void
  ) {
    let clock = clock
    transferThread.run(on: loop) {
      let word = Int64(Timeouts.lastWord) * 1_000_000
      let pace = Pace(.init(least: 0, grace: word, total: word), now: clock.monotonic)
      var buffer = SecretBuffer()
      buffer.append(unsafe before.span.bytes)  // Bytes have no padding: all are initialized.
      var writer = JSONWriter(appendingTo: buffer)
      if socket.isPeerAlive { message(&writer) } else { writer.reply(.disowned) }
      var sent = 0
      try? writer.withBytes { bytes throws(RawSocket.Problem) in
        try socket.send(bytes, from: &sent, pace: pace, patience: Timeouts.lastWord, heedsCallOff: false)
      }
    } then: { _ in
    }
  }
}

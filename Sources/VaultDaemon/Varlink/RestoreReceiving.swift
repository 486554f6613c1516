internal import VaultCore
internal import VaultService

/// The work of the thread of a restore: it takes the backup in, and makes it the vault.
struct RestoreReceiving: Sendable {
  enum End: Sendable {
    case restored(leftOut: [SlotRecord])
    case failed(Refusal)
    case broken(RawSocket.Problem)

    /// True when it is the vault now.
    var isWhole: Bool { if case .restored = self { true } else { false } }
  }

  let incoming: IncomingVault
  let socket: RawSocket
  /// `CLOCK_MONOTONIC`, nanoseconds.
  let now: @Sendable () -> Int64

  func run() -> End {
    let pace = Pace(Timeouts.pace, now: now)
    do {
      let leftOut = try incoming.takeIn { bytes in
        try socket.receive(into: &bytes, pace: pace)
      } isAtEnd: {
        try socket.isAtEnd()
      } isWanted: {
        socket.isPeerAlive
      }
      return .restored(leftOut: leftOut)
    } catch RawSocket.Problem.gone {
      return .failed(.invalidBackup("it is cut short"))
    } catch let problem as RawSocket.Problem {
      return .broken(problem)
    } catch let refusal as Refusal {
      return .failed(refusal)
    } catch {
      return .failed(.storageFailed("\(error)"))
    }
  }
}

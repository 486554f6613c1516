internal import VaultCore
internal import VaultService

/// The work of the thread that receives a client's backup, either to make it the vault or only to check it.
struct BackupReceiving<Value: Sendable>: Sendable {
  enum End: Sendable {
    case whole(Value)
    case failed(Refusal)
    case broken(RawSocket.Problem)

    /// The result that the service expects.
    var result: Result<Value, Refusal> {
      switch self {
      case .whole(let value): .success(value)
      case .failed(let refusal): .failure(refusal)
      case .broken: .failure(.cancelled)
      }
    }
  }

  private let socket: RawSocket
  /// Returns nanoseconds of `CLOCK_MONOTONIC`.
  private let now: @Sendable () -> Int64
  private let take:
    @Sendable (_ receive: (inout MutableRawSpan) throws -> Void, _ isAtEnd: () throws -> Bool) throws -> Value

  init(_ incoming: IncomingVault, socket: RawSocket, now: @escaping @Sendable () -> Int64)
  where Value == [SlotRecord] {
    (self.socket, self.now) = (socket, now)
    take = { receive, isAtEnd in
      try incoming.takeIn(receive: receive, isAtEnd: isAtEnd, isWanted: { socket.isPeerAlive })
    }
  }

  init(_ backup: ReadBackup, socket: RawSocket, now: @escaping @Sendable () -> Int64) where Value == Void {
    (self.socket, self.now) = (socket, now)
    take = backup.read
  }

  func run() -> End {
    let pace = Pace(Timeouts.pace, now: now)
    do {
      let value = try take({ bytes in try socket.receive(into: &bytes, pace: pace) }, { try socket.isAtEnd() })
      return .whole(value)
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

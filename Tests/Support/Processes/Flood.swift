import Foundation
import Synchronization

/// Calls that another process sends without pause, over several connections at once, until the test ends them. A thread
/// of the test sends them.
public final class Flood: Sendable {
  private struct State {
    var answers = 0
    var failure: (any Error)?
  }

  private let isOver = Atomic(false)
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)

  /// Returns once something was sent over each connection.
  ///
  /// - Parameters:
  ///   - reads: false if the answers are left unread.
  ///   - load: The frames that are sent again and again over the connection of this index.
  public init(
    of process: OtherProcess, connections: Int, reads: Bool = true, _ load: @escaping @Sendable (Int) -> [UInt8]
  ) throws {
    let began = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [self] in
      do {
        try flood((0..<connections).map { (try process.connect(), load($0)) }, reads) { began.signal() }
      } catch {
        state.withLock { $0.failure = error }
        began.signal()
      }
      ended.signal()
    }
    began.wait()
    if let error = state.withLock({ $0.failure }) { throw error }
  }

  private func flood(_ clients: [(WireClient, [UInt8])], _ reads: Bool, began: () -> Void) throws {
    var places = clients.map { _ in 0 }
    var hasBegun = false
    var isOpen = true
    // The daemon may cut off one that does not read, and its own end is the end of every connection.
    while isOpen, !isOver.load(ordering: .relaxed) {
      isOpen = false
      for (index, (client, load)) in clients.enumerated() {
        let part = Array(load[places[index]...].prefix(1 << 16))
        places[index] = (places[index] + client.sendWithoutWaiting(part)) % load.count
        guard reads else {
          isOpen = true
          continue
        }
        guard let bytes = client.receiveWithoutWaiting() else { continue }
        isOpen = true
        let answers = bytes.count { $0 == 0 }
        if answers > 0 { state.withLock { $0.answers += answers } }
      }
      if !hasBegun { began() }
      hasBegun = true
    }
    if !hasBegun { began() }
  }

  /// Ends the flood, unless it has ended with its connections, and returns the number of answers.
  @discardableResult
  public func end() -> Int {
    isOver.store(true, ordering: .relaxed)
    ended.wait()
    ended.signal()
    return state.withLock { $0.answers }
  }
}

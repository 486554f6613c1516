internal import Synchronization

/// A flag that tells work on another thread that nobody wants its result any more.
///
/// Argon2id cannot be stopped in the middle, so such work checks the flag before it begins and between two derivations.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package var isCancelled: Bool { flag.load(ordering: .acquiring) }

  package func cancel() { flag.store(true, ordering: .releasing) }
}

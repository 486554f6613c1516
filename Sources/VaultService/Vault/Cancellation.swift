internal import Synchronization

/// Tells work on another thread that nobody wants its result any more.
///
/// Argon2id cannot be stopped in the middle; work looks here before it begins and between two derivations.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package var isCancelled: Bool { flag.load(ordering: .acquiring) }

  package func cancel() { flag.store(true, ordering: .releasing) }
}

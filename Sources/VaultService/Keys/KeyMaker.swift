package import VaultCore
package import VaultModel

/// Makes the keys that take long, one at a time, so that nobody keeps the processors busy with them.
///
/// Each user has one key made, or waiting to be made, at a time. So a user's key waits for one of each other user at most.
package final class KeyMaker {
  /// The most keys that wait.
  static let longestQueue = 8

  private struct Order {
    let recipe: KeyRecipe
    let use: KeyUse
    let name: ItemName
    let user: UInt32
    let isWanted: () -> Bool
    let done: (Result<SecretBox, ValueError>) -> Void
  }

  private let worker: any Worker
  /// The uid of the user whose key is being made; nil while none is.
  private var served: UInt32?
  private var waiting: [Order] = []

  package init(on worker: any Worker) { self.worker = worker }

  /// Makes a key, now or after those that were asked for before, and tells of it or why there is none.
  ///
  /// - Parameters:
  ///   - user: the caller's uid.
  ///   - isWanted: asked before a key is made that had to wait. Where it answers false, nothing is made and nobody is told.
  /// - Throws: ``Refusal/busy(_:)`` while another key of the same user is to be made, or too many others are.
  package func make(
    _ recipe: KeyRecipe, for use: KeyUse, _ name: ItemName, by user: UInt32, while isWanted: @escaping () -> Bool,
    then done: @escaping (Result<SecretBox, ValueError>) -> Void
  ) throws(Refusal) {
    let order = Order(recipe: recipe, use: use, name: name, user: user, isWanted: isWanted, done: done)
    guard let served else { return begin(order) }
    waiting = waiting.filter { $0.isWanted() }
    guard served != user, !waiting.contains(where: { $0.user == user }) else {
      throw .busy("another key is being made")
    }
    guard waiting.count < Self.longestQueue else { throw .busy("too many keys are waiting to be made") }
    waiting.append(order)
  }

  private func begin(_ order: Order) {
    served = order.user
    let (recipe, use, name) = (order.recipe, order.use, order.name)
    worker.run { () -> Result<SecretBox, ValueError> in
      do throws(ValueError) { return .success(SecretBox(try recipe.make(for: use, name))) } catch {
        return .failure(error)
      }
    } then: { [self] result in
      served = nil
      beginNext()
      order.done(result)
    }
  }

  private func beginNext() {
    while served == nil, !waiting.isEmpty {
      let next = waiting.removeFirst()
      if next.isWanted() { begin(next) }
    }
  }
}

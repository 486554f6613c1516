/// A lock: the kinds of secrets that it wipes, and its cause.
public struct Lock {
  /// The kinds of secrets, by how long they may stay in memory.
  package struct Reach: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The keys of `when-unlocked` items, and all proofs; every lock wipes them.
    package static let whenUnlocked = Reach(rawValue: 1)
    /// The keys of `after-first-unlock` items.
    package static let afterFirstUnlock = Reach(rawValue: 2)
    /// The presence keys of `memory` slots.
    package static let presenceKeys = Reach(rawValue: 4)
    /// The names of items, in a vault that hides names.
    package static let names = Reach(rawValue: 8)
    /// The keys of `always` items; only the end of the daemon wipes them.
    package static let always = Reach(rawValue: 16)
    package static let everything: Reach = [.whenUnlocked, .afterFirstUnlock, .presenceKeys, .names, .always]
  }

  package let reach: Reach
  package let cause: LockState.Cause
  /// True when this lock closes anything that was open. Work that was begun before such a lock must not be completed
  /// after it.
  package let isEffective: Bool

  package init(_ reach: Reach, because cause: LockState.Cause, isEffective: Bool) {
    self.reach = reach
    self.cause = cause
    self.isEffective = isEffective
  }
}

/// An object that holds keys or secrets of the vault for longer than one turn of the loop. It joins the list of holders
/// when it is made, and is told of each lock.
open class SecretHolder {
  package init(in holders: SecretHolders) { holders.join(self) }

  /// Lets go of the secrets that must not outlive `lock`.
  open func letGo(for lock: Lock) { preconditionFailure("a holder of secrets says what a lock means to it") }

  /// True when the object still holds secrets that must not outlive `lock`.
  open func outlives(_ lock: Lock) -> Bool { true }
}

/// The only list of all objects that hold secrets, in the order in which they joined.
package final class SecretHolders {
  private struct Member {
    weak var holder: SecretHolder?
  }

  private var members: [Member] = []
  /// The number of members at which released members are removed from the list.
  private var full = 64
  /// The number of members, some of which may have been released.
  var count: Int { members.count }
  /// Called with the holders that did not let go. The daemon then ends, because its memory cannot be wiped otherwise.
  package var onDisobedience: ([String]) -> Void = { _ in }

  package init() {}

  fileprivate func join(_ holder: SecretHolder) {
    if members.count >= full {
      members.removeAll { $0.holder == nil }
      full = max(64, 2 * members.count)
    }
    members.append(Member(holder: holder))
  }

  /// Tells all holders of a lock, the youngest first, and checks that each has let go. In this order a conversation
  /// ends before the connection that carries it.
  package func letGo(for lock: Lock) {
    // Holders that join meanwhile were made by the lock, and hold nothing that it wipes.
    let holders = Array(members.compactMap(\.holder).reversed())
    for holder in holders { holder.letGo(for: lock) }
    // The end of one holder may have passed a secret to another that was told before.
    for holder in holders where holder.outlives(lock) { holder.letGo(for: lock) }
    let left = holders.filter { $0.outlives(lock) }
    if !left.isEmpty { onDisobedience(left.map { "\(type(of: $0))" }) }
  }
}

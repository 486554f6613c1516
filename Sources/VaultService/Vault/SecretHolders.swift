/// A lock: the kinds of secrets that it wipes, and its cause.
public struct Lock {
  /// Kinds of secrets, by how long they may stay in memory.
  package struct Reach: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Keys of `when-unlocked` items, and everything that was proven: wiped by every lock.
    package static let whenUnlocked = Reach(rawValue: 1)
    /// Keys of `after-first-unlock` items.
    package static let afterFirstUnlock = Reach(rawValue: 2)
    /// The presence keys of `memory` slots.
    package static let presenceKeys = Reach(rawValue: 4)
    /// The names of items, where they are hidden.
    package static let names = Reach(rawValue: 8)
    /// Keys of `always` items: wiped at the daemon's end alone.
    package static let always = Reach(rawValue: 16)
    package static let everything: Reach = [.whenUnlocked, .afterFirstUnlock, .presenceKeys, .names, .always]
  }

  package let reach: Reach
  package let cause: LockState.Cause
  /// True when anything was open that this lock closes: what came before it is not to be done after it.
  package let isEffective: Bool

  package init(_ reach: Reach, because cause: LockState.Cause, isEffective: Bool) {
    self.reach = reach
    self.cause = cause
    self.isEffective = isEffective
  }
}

/// Something that holds keys or secrets of the vault for longer than one turn of the loop. It joins the list of all of them
/// when it is made, and is told of each lock.
open class SecretHolder {
  package init(in holders: SecretHolders) { holders.join(self) }

  /// Lets go of what must not outlive `lock`.
  open func letGo(for lock: Lock) { preconditionFailure("a holder of secrets says what a lock means to it") }

  /// True when it still holds something that must not outlive `lock`.
  open func outlives(_ lock: Lock) -> Bool { true }
}

/// The one list of who holds secrets, in the order in which they joined it.
package final class SecretHolders {
  private struct Member {
    weak var holder: SecretHolder?
  }

  private var members: [Member] = []
  /// The number of members at which those that are gone are taken out.
  private var full = 64
  /// The number of members, of which some may be gone.
  var count: Int { members.count }
  /// Told of what did not let go. The daemon ends then: its memory cannot be wiped otherwise.
  package var onDisobedience: ([String]) -> Void = { _ in }

  package init() {}

  fileprivate func join(_ holder: SecretHolder) {
    if members.count >= full {
      members.removeAll { $0.holder == nil }
      full = max(64, 2 * members.count)
    }
    members.append(Member(holder: holder))
  }

  /// Tells all of a lock, the youngest first, and makes sure that each has let go: a conversation ends before the connection
  /// that it is held over.
  package func letGo(for lock: Lock) {
    // Those that join meanwhile were made by the lock, and hold nothing that it wipes.
    let holders = Array(members.compactMap(\.holder).reversed())
    for holder in holders { holder.letGo(for: lock) }
    // The end of one may have put something into the hands of another that was told before.
    for holder in holders where holder.outlives(lock) { holder.letGo(for: lock) }
    let left = holders.filter { $0.outlives(lock) }
    if !left.isEmpty { onDisobedience(left.map { "\(type(of: $0))" }) }
  }
}

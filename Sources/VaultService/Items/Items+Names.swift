internal import VaultModel
internal import VaultStore

/// A walk over what stands directly in a folder, which ``Items/children(_:until:for:)`` takes on step by step.
package struct NameWalk {
  /// The most names that one walk is for, and the most texts of attributes.
  package static let most = ChildWalk.most

  let walk: ChildWalk

  /// - Parameter prefix: what the names begin with; up to its last slash it is the folder.
  package init(prefix: String) { walk = ChildWalk(prefix: prefix) }
}

// The names, keys and values that somebody who types one may go on with.
extension Items {
  /// The next names of a walk through a folder, and whether it is over.
  ///
  /// - Parameter end: when this ends in any case, `CLOCK_MONOTONIC` nanoseconds.
  package func children(
    _ walk: NameWalk, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (names: [String], isOver: Bool) {
    let keychain = try vault.keychain()
    let clock = vault.clock
    do throws(VaultError) {
      return try keychain.children(walk.walk, now: clock.wall()) { item in
        access.decide(.find, item.name, item.policy, for: caller)
      } isTimeUp: {
        clock.monotonic() >= end
      }
    } catch {
      throw vault.refusal(error, "")
    }
  }

  /// The attributes of some items more: their keys, or the values of `key`, as often as items have them. `next` is where to
  /// go on, nil at the end.
  ///
  /// - Parameter end: when this ends in any case, `CLOCK_MONOTONIC` nanoseconds.
  package func attributes(
    _ key: String?, after: Int64?, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (texts: [String], next: Int64?) {
    let (items, next) = try find(Query(within: nil), limit: 256, after: after, until: end, for: caller)
    let texts = items.flatMap { item in
      key.map { key in item.attributes[key].map { [$0] } ?? [] } ?? Array(item.attributes.keys)
    }
    return (texts, next)
  }
}

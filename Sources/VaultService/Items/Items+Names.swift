internal import VaultModel
internal import VaultStore

/// A walk over the names directly in a folder, which ``Items/children(_:until:for:)`` continues step by step.
package final class NameWalk {
  /// The most names that one walk returns, and the most texts of attributes.
  package static let most = ChildWalk.most

  let walk: ChildWalk
  /// The key of the area in which the walk is; nil before the first area.
  var area: UInt64?

  /// - Parameter prefix: the beginning of the names; the part up to its last slash is the folder.
  package init(prefix: String) { walk = ChildWalk(prefix: prefix) }
}

// The names, attribute keys and values that complete what a person types.
extension Items {
  /// The next names of a walk through a folder, and whether the walk is over.
  ///
  /// - Parameter end: the time at which this call ends in any case, in `CLOCK_MONOTONIC` nanoseconds.
  package func children(
    _ walk: NameWalk, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (names: [String], isOver: Bool) {
    let keychain = try vault.keychain()
    let clock = vault.clock
    let folder = walk.walk.folder.map { SearchArea.folder($0) } ?? .everything
    let areas = try areas(.find, caller).compactMap { $0.intersection(folder) }
    // An area that is gone was taken from the caller meanwhile; the walk continues with the areas after it.
    var index = areas.firstIndex { $0.key >= walk.area ?? 0 } ?? areas.count
    var names: [String] = []
    while index < areas.count {
      let area = areas[index]
      if walk.area != area.key {
        walk.walk.restart()
        walk.area = area.key
      }
      let (found, isOver): ([String], Bool)
      do throws(VaultError) {
        (found, isOver) = try keychain.children(walk.walk, in: area, now: clock.wall()) { item in
          area.contains(.name(item.name)) ? access.decide(.find, item.name, item.policy, for: caller) : .refuse
        } isTimeUp: {
          clock.monotonic() >= end
        }
      } catch {
        throw vault.refusal(error, "")
      }
      names += found
      if !isOver { return (names, false) }
      index += 1
      if index < areas.count {
        walk.walk.restart()
        walk.area = areas[index].key
      }
      if clock.monotonic() >= end { break }
    }
    return (names, index >= areas.count)
  }

  /// More attributes of items: their keys, or the values of `key`, once for each item that has them.
  ///
  /// - Parameter end: the time at which this call ends in any case, in `CLOCK_MONOTONIC` nanoseconds.
  /// - Returns: the texts, and the place from which to continue; nil at the end.
  package func attributes(
    _ key: String?, after: SearchPlace?, until end: Int64, for caller: Caller
  ) throws(Refusal) -> (texts: [String], next: SearchPlace?) {
    let (items, next) = try find(Query(within: nil), limit: 256, after: after, until: end, for: caller)
    let texts = items.flatMap { item in
      key.map { key in item.attributes[key].map { [$0] } ?? [] } ?? Array(item.attributes.keys)
    }
    return (texts, next)
  }
}

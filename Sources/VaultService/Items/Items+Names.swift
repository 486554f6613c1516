internal import VaultModel
internal import VaultStore

/// A walk over what stands directly in a folder, which ``Items/children(_:until:for:)`` takes on step by step.
package final class NameWalk {
  /// The most names that one walk is for, and the most texts of attributes.
  package static let most = ChildWalk.most

  let walk: ChildWalk
  /// The key of the area that it is in; nil before the first.
  var area: UInt64?

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
    let folder = walk.walk.folder.map { SearchArea.folder($0) } ?? .everything
    let areas = try areas(.find, caller).compactMap { $0.intersection(folder) }
    // One that is gone was taken from the caller meanwhile; the walk goes on with those behind it.
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

  /// The attributes of some items more: their keys, or the values of `key`, as often as items have them. `next` is where to
  /// go on, nil at the end.
  ///
  /// - Parameter end: when this ends in any case, `CLOCK_MONOTONIC` nanoseconds.
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

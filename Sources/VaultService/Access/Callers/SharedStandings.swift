internal import VaultCore
internal import VaultModel

/// The standings of callers who are no administrators, by their grants: callers with the same grants have one standing.
///
/// A lock that hides names frees all standings before it is done. With one for each connection, 230 connections with
/// 400 grants would keep the lock waiting for 70 ms.
struct SharedStandings {
  /// All that a standing depends on.
  struct Key: Hashable {
    private let isConfined: Bool
    private let ids: [AccessClass: Set<ItemID>]

    /// - Parameter found: the caller's grants for items of each class whose grants can be read.
    init(_ found: [AccessClass: [GrantIndex.Entry]], isConfined: Bool) {
      self.isConfined = isConfined
      ids = found.mapValues { Set($0.map(\.id)) }
    }
  }

  /// The most standings that are kept. When there are more, those in use stay with their callers.
  private static let most = 256

  private var standings: [Key: Standing] = [:]

  /// The standing with this key, if the grants have not changed since it was made.
  func standing(_ key: Key, _ revision: Int) -> Standing? {
    guard let known = standings[key], known.revision == revision else { return nil }
    return known
  }

  mutating func keep(_ standing: Standing, _ key: Key) {
    if standings.count >= Self.most || standings.values.first?.revision != standing.revision { standings = [:] }
    standings[key] = standing
  }
}

internal import VaultCore
internal import VaultModel

/// The standings of callers who are not administrators, by their grants: callers with the same grants have one
/// standing.
///
/// A lock that hides names frees all standings before it is done. With one for each connection, 230 connections with
/// 400 grants would keep the lock waiting. Standings that differ share what they have in common: the grants themselves
/// (``GrantIndex/Entry``).
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

  /// A standing that lives only for as long as a caller has it. Otherwise a lock would also have to free standings that
  /// no caller has any more.
  private struct Shared {
    weak var standing: Standing?
  }

  /// The most standings in the table. Standings that are dropped from the table stay with their callers.
  private static let most = 256

  private var known: [Key: Shared] = [:]
  private var revision = 0

  /// The standing with this key, if the grants have not changed since it was made.
  func standing(_ key: Key, _ revision: Int) -> Standing? {
    self.revision == revision ? known[key]?.standing : nil
  }

  mutating func keep(_ standing: Standing, _ key: Key) {
    if known.count >= Self.most { known = known.filter { $0.value.standing != nil } }
    if known.count >= Self.most || revision != standing.revision { known = [:] }
    revision = standing.revision
    known[key] = Shared(standing: standing)
  }
}

internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The grants of a locked vault that hides names. They are sealed in memory, grouped by one part of their subjects.
///
/// To know a caller's rights, only the records for that caller are opened. So a caller without a grant costs nothing,
/// and no name of an item is in memory in the clear.
struct HiddenGrants {
  private struct Page {
    /// The records that concern every caller.
    var common: [SealedGrant] = []
    /// The other records, by the part of the subject by which ``GrantBook`` finds them.
    var byPart: [Subject.Part: [SealedGrant]] = [:]
    /// The reason why these are not the records that were stored last; nil if they are.
    var problem: VaultError?
  }

  /// The sets of the records that were stored last, in the classes that could be read. While they stay the same, so do
  /// the records.
  private let sets: [AccessClass: RecordSet]
  private var pages: [AccessClass: Page] = [:]

  /// Reads the records of all classes whose keys are in memory.
  ///
  /// - Parameter warn: called with each class whose records do not count, and the reason.
  init(_ keychain: Keychain, warn: (AccessClass, VaultError) -> Void) {
    sets = Self.sets(keychain)
    for (accessible, read) in keychain.readGrants(of: AccessClass.allCases, keepsSealed: true) {
      var page = Page()
      for (record, sealed) in zip(read.records, read.sealed) {
        switch record.content {
        case .grant(let grant): page.byPart[GrantBook.key(grant.subject), default: []].append(sealed)
        case .confined, .unconfirmed: page.common.append(sealed)
        // A denial decides who may ask, and nobody can be asked before the unlock.
        case .denied: break
        }
      }
      do throws(VaultError) { _ = try keychain.grants(of: accessible, among: [accessible: read]) } catch {
        warn(accessible, error)
        page.problem = error
      }
      pages[accessible] = page
    }
  }

  private static func sets(_ keychain: Keychain) -> [AccessClass: RecordSet] {
    var sets: [AccessClass: RecordSet] = [:]
    for accessible in AccessClass.allCases where keychain.opensGrants(of: accessible) {
      sets[accessible] = try? keychain.grantSet(of: accessible)
    }
    return sets
  }

  /// True while the store has the same records, and the same classes can be read.
  func isCurrent(_ keychain: Keychain) -> Bool {
    // A disk that could not be read may be read later.
    !pages.values.contains { if case .storage = $0.problem { true } else { false } }
      && pages.keys.allSatisfy(keychain.opensGrants)
      && AccessClass.allCases.count(where: keychain.opensGrants) == pages.count && sets == Self.sets(keychain)
  }

  /// Opens the records that concern a caller with these parts.
  func records(for parts: CallerParts, _ keychain: Keychain) -> [AccessClass: GrantBook.Loaded] {
    var loaded: [AccessClass: GrantBook.Loaded] = [:]
    for (accessible, page) in pages {
      let sealed = page.common + parts.keys.flatMap { page.byPart[$0] ?? [] }
      guard let records = try? keychain.open(sealed, of: accessible) else { continue }
      loaded[accessible] = page.problem.map { .changed(records, because: $0) } ?? .stored(records)
    }
    return loaded
  }
}

internal import VaultCore
internal import VaultModel

/// A reading of the list of grants, a few at a time, in the order of their subjects and items.
///
/// A grant that changes during the reading is shown as it is when its turn comes. A lock that hides names ends the
/// reading.
package final class GrantReading: SecretHolder {
  /// The place of a grant in the order, which is unique.
  private struct Place: Comparable {
    let subject: String
    let items: String
    /// True for a grant that is no credential; it comes after those that are.
    let isPlain: Bool
    let credential: String

    init(_ grant: Grant) {
      (subject, items) = (grant.subject.description, grant.pattern.text)
      (isPlain, credential) = (grant.credential == nil, grant.credential?.text ?? "")
    }

    static func < (left: Self, right: Self) -> Bool {
      (left.subject, left.items, left.isPlain ? 1 : 0, left.credential)
        < (right.subject, right.items, right.isPlain ? 1 : 0, right.credential)
    }
  }

  private let access: Access
  private var filter: Access.GrantFilter
  private let caller: Caller
  private let isAdministrator: Bool
  /// The grants that are left to show, in order, as of ``revision``.
  private var left: ArraySlice<(place: Place, id: ItemID, grant: Grant)> = []
  private var revision: Int?
  /// The place of the last grant that was shown.
  private var last: Place?
  private var hasEnded = false

  /// - Throws: the refusal, also if nobody can determine which grants there are.
  init(_ access: Access, _ filter: Access.GrantFilter, _ caller: Caller) throws(Refusal) {
    (self.access, self.filter, self.caller) = (access, filter, caller)
    isAdministrator = access.isAdministrator(caller)
    super.init(in: access.vault.holders)
    try lookUp()
  }

  /// The next grants, at most `count`, and whether the list is over.
  ///
  /// - Throws: the reason why the reading cannot continue: the caller may no longer read the grants, or nobody can
  ///   determine now which there are.
  package func next(_ count: Int) throws(Refusal) -> (grants: [Access.ToldGrant], isOver: Bool) {
    try lookUp()
    let page = left.prefix(count)
    left = left.dropFirst(count)
    last = page.last?.place ?? last
    return (page.map { access.told($0.id, $0.grant) }, left.isEmpty)
  }

  private func lookUp() throws(Refusal) {
    guard !hasEnded else { throw access.vault.locked }
    guard revision != access.book.revision else { return }
    if isAdministrator { try access.checkAdministrator(caller) }
    let found = try access.found(filter, caller).map { (place: Place($0.grant), id: $0.id, grant: $0.grant) }
    let later = last.map { last in found.filter { last < $0.place } } ?? found
    left = later.sorted { $0.place < $1.place }[...]
    revision = access.book.revision
  }

  // MARK: A lock

  package override func letGo(for lock: Lock) {
    guard outlives(lock) else { return }
    (filter, left, last, hasEnded) = (Access.GrantFilter(), [], nil, true)
  }

  package override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && (filter.name != nil || !left.isEmpty || last != nil)
  }
}

internal import VaultModel

/// The grants that were opened in a locked vault that hides names, and the callers whose standing they gave. When this
/// object is released, those callers lose their standings.
final class OpenedGrants {
  /// The revision of the grants to which everything here belongs.
  let revision: Int
  /// The parts that subjects of grants have. Callers who have the same ones among these parts have the same grants.
  private let named: Set<Subject.Part>
  private var books: [Set<Subject.Part>: GrantBook] = [:]
  /// The standings of callers in the machine's vault, where only the parts of a caller decide.
  private var standings: [Set<Subject.Part>: Standing] = [:]
  private var callers: [Caller.Memory] = []

  init(revision: Int, named: Set<Subject.Part>) { (self.revision, self.named) = (revision, named) }

  deinit { for caller in callers { caller.standing = nil } }

  private func key(_ parts: CallerParts) -> Set<Subject.Part> { named.intersection(parts.keys) }

  /// The grants that concern callers with these parts; nil if they were not opened at this revision.
  func book(for parts: CallerParts, _ revision: Int) -> GrantBook? {
    revision == self.revision ? books[key(parts)] : nil
  }

  func keep(_ book: GrantBook, for parts: CallerParts) { books[key(parts)] = book }

  func standing(for parts: CallerParts, _ revision: Int) -> Standing? {
    revision == self.revision ? standings[key(parts)] : nil
  }

  func keep(_ standing: Standing, for parts: CallerParts) { standings[key(parts)] = standing }

  func keep(_ standing: Standing, of caller: Caller) {
    guard standing.revision == revision else { return }
    caller.memory.standing = standing
    callers.append(caller.memory)
  }
}

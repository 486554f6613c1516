internal import VaultCore
internal import VaultModel
internal import VaultStore

// The parts of a grant book.
extension GrantBook {
  /// The records of one class, as they were read.
  enum Loaded {
    /// Exactly the records that were stored last.
    case stored([GrantRecord])
    /// The records that can be opened, if these are not the ones that were stored last, or if not all of them could be
    /// read. Their grants do not count. Their restrictions do, so that nobody gains rights by a change of the store.
    case changed([GrantRecord], because: VaultError)
  }

  /// The content of the records of one class. All classes have the same records, except for what could not be stored
  /// yet, or what an attacker who has the key of that class alone has forged.
  struct Page {
    var grants: [(id: ItemID, grant: Grant)] = []
    var denied: [RequestTarget: ItemID] = [:]
    var isUnconfirmed = false
    /// The reason why these are not the records that were stored last, so that the page has no grants; nil if they are.
    var problem: VaultError?
    /// The set of the records in the store that contain exactly what this page contains; nil if the store may have
    /// other records by now.
    var set: RecordSet?

    /// The grants with these ids; nil for all.
    func among(_ ids: Set<ItemID>?) -> [(id: ItemID, grant: Grant)] {
      ids.map { ids in ids.isEmpty ? [] : grants.filter { ids.contains($0.id) } } ?? grants
    }
  }

  /// Grants to revoke, in classes that cannot be read yet.
  struct Coming {
    let subject: Subject
    /// The pattern of the grants; nil for all grants of the subject.
    let pattern: ItemPattern?
    var classes: Set<AccessClass>
  }
}

internal import VaultCore
internal import VaultModel
internal import VaultStore

// The parts of the book.
extension GrantBook {
  /// The records of one class, as they were read.
  enum Loaded {
    /// Those that were stored last, and no others.
    case stored([GrantRecord])
    /// The records that open where they are not those that were stored last, or could not all be read. No grant of
    /// them counts. What they take from somebody does, so that nobody has more by a change of the store.
    case changed([GrantRecord], because: VaultError)
  }

  /// The content of the records of one class. All classes have the same records but for what could not be stored yet,
  /// or what somebody forged who has the key of that class alone.
  struct Page {
    var grants: [(id: ItemID, grant: Grant)] = []
    var denied: [RequestTarget: ItemID] = [:]
    var isUnconfirmed = false
    /// The reason why they are not those that were stored, so that no grant of them is here; nil where they are.
    var problem: VaultError?
    /// The set of the records in the store that say all of it and nothing else; nil where these may be others by now.
    var set: RecordSet?

    /// The grants with these ids; nil for all.
    func among(_ ids: Set<ItemID>?) -> [(id: ItemID, grant: Grant)] {
      ids.map { ids in ids.isEmpty ? [] : grants.filter { ids.contains($0.id) } } ?? grants
    }
  }

  /// Grants to be revoked of classes that cannot be read yet.
  struct Coming {
    let subject: Subject
    /// Nil for all of the subject.
    let pattern: ItemPattern?
    var classes: Set<AccessClass>
  }
}

import VaultCore
public import VaultModel

// The newest times of the classes, for decisions that depend on time.
extension Keychain {
  /// The later of `now` and the newest time that a class knows to have passed, both in Unix seconds.
  public func newestTime(of accessible: AccessClass, at now: Int64) -> Int64 { effective(now, accessible) }

  /// The age of a class at the time `now`, in Unix seconds: see ``ClassRecord/Facts/age``.
  public func age(of accessible: AccessClass, at now: Int64) -> Int64 {
    guard var facts = facts[accessible] else { return 0 }
    facts.advance(to: now)
    return facts.age
  }

  /// A number that changes with each transaction, with each unlock, and with each lock that wipes the keys of names or
  /// of `after-first-unlock`. As long as it is the same, everything that was read is still what the store has. A lock
  /// that wipes only the keys of values leaves the number as it is, so the number does not tell that a value may still
  /// be read.
  public var generation: UInt64 { bound.recent.generation }

  /// Sets the newest time of each class back to `now`, in Unix seconds, if it is later. This is for a clock that ran
  /// ahead. The age of the class goes back as well, by at most 31 days, so that the vault does not forget too early
  /// what it remembers for a certain time; see ``ClassRecord/Facts/setBack(to:)``.
  ///
  /// - Throws: ``VaultError/locked`` unless all keys are in memory; ``VaultError/rekeying``;
  ///   ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func setNewestTime(back now: Int64) throws(VaultError) {
    guard holdsAllKeys else { throw .locked }
    guard !isRekeying else { throw .rekeying }
    try write { () throws(VaultError) in
      for accessible in AccessClass.allCases {
        let sets: RecordSets
        var facts: ClassRecord.Facts
        (sets, facts) = try classRecord(accessible).parts
        facts.setBack(to: now)
        try store(ClassRecord(sets: sets, facts: facts), accessible)
      }
    }
  }

  /// Records in a class that the time `now`, in Unix seconds, has passed. The record is on the disk when this returns.
  ///
  /// - Throws: ``VaultError/locked``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
  public func learn(_ now: Int64, _ accessible: AccessClass) throws(VaultError) {
    guard effective(now, accessible) == now, vouchedTime(accessible) != now else { return }
    guard holdsIntegrityKey(accessible) else { throw .locked }
    try write { () throws(VaultError) in touch(accessible, now: now) }
  }
}

package import VaultModel

/// The facts about the vault for every caller who may ask for its status.
package struct VaultStatus {
  package let state: LockState
  /// The time at which the vault locks by itself, in Unix seconds, and the reason; nil if it does not.
  package let locksAt: (time: Int64, reason: LockPolicy.Reason)?
  /// The reason why the store cannot be opened, or why the next start would not find it; nil if all is well.
  package var problem: String?
  /// The id of the vault; nil without a vault.
  package var vaultID: [UInt8]?
  /// The number of items.
  package var items: Int?
  /// The integrity of all records together; nil without a store, and while the store's files are gone.
  package var integrity: IntegrityState?
  /// The number of items that the current rekey has processed, and the number of all items.
  package var rekey: (done: Int, of: Int)?
  /// The time of the last known backup, in Unix seconds; nil for none.
  package var lastBackup: Int64?
  package var warnings: [VaultWarning] = []
}

/// A warning for a person, such as of something that the daemon cannot do or watch on this machine.
package struct VaultWarning: Equatable, Sendable {
  package enum Topic: String, Sendable {
    case memory, sleep, session, integrity, rekey, clock, copy, settings, audit, deposits
    case bootKey = "boot-key"
    case secretService = "secret-service"
  }

  package let topic: Topic
  package let text: String
  /// The consequence, or advice on how to remove the cause.
  package let advice: String?
  /// The time since which this is so, in Unix seconds; nil if it is not known.
  package let since: Int64?

  package init(_ topic: Topic, _ text: String, _ advice: String? = nil, since: Int64? = nil) {
    self.topic = topic
    self.text = text
    self.advice = advice
    self.since = since
  }
}

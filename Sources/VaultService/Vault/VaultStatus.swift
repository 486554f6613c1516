package import VaultModel

/// The facts about the vault that anybody who may ask is told.
package struct VaultStatus {
  package let state: LockState
  /// The time at which it locks by itself, in Unix seconds, and the reason; nil when it does not.
  package let locksAt: (time: Int64, reason: LockPolicy.Reason)?
  /// The reason why the store cannot be opened.
  package var problem: String?
  /// The id of the vault, where there is one.
  package var vaultID: [UInt8]?
  /// The number of its items.
  package var items: Int?
  /// The state of all records taken together; nil without a store.
  package var integrity: IntegrityState?
  /// The items that a rekey that is under way has looked at, and all of them.
  package var rekey: (done: Int, of: Int)?
  /// The time of the last backup that is known of, Unix seconds; nil for none.
  package var lastBackup: Int64?
  package var warnings: [VaultWarning] = []
}

/// Something that the daemon cannot do or watch here, for a person to know.
package struct VaultWarning: Equatable, Sendable {
  package enum Topic: String, Sendable {
    case memory, sleep, session, integrity, rekey, clock, copy, settings, audit, deposits
    case bootKey = "boot-key"
  }

  package let topic: Topic
  package let text: String
  /// The consequence, or advice what to do about it.
  package let advice: String?
  /// The time from which on it is so, in Unix seconds, where that is known.
  package let since: Int64?

  package init(_ topic: Topic, _ text: String, _ advice: String? = nil, since: Int64? = nil) {
    self.topic = topic
    self.text = text
    self.advice = advice
    self.since = since
  }
}

/// One thing that happened in a vault, as its audit log tells it.
public struct AuditEntry: Hashable, Sendable {
  /// A process, as the kernel saw it when it connected.
  public struct Caller: Hashable, Sendable {
    /// The way in which it asked, such as `varlink`.
    public var door: String
    public var uid: UInt32
    /// 0 where it is told of several processes together.
    public var pid: Int32
    /// The unit that it belonged to: of the system's service manager, or else of its user's own. Nil for none.
    public var unit: String?
    /// The file that it ran, as it said by its own doing: advice. Nil where that could not be told.
    public var executable: String?

    public init(door: String, uid: UInt32, pid: Int32, unit: String? = nil, executable: String? = nil) {
      (self.door, self.uid, self.pid, self.unit, self.executable) = (door, uid, pid, unit, executable)
    }
  }

  /// The entry that this one tells more of.
  public struct Repeats: Hashable, Sendable {
    /// The number of that entry; nil where the things that happened are counted and told no further.
    public var of: Int64?
    /// How often it happened.
    public var count: UInt32

    public init(of: Int64?, count: UInt32) { (self.of, self.count) = (of, count) }
  }

  /// A subject, by the beginning of the hash of its name.
  public struct Subject: Hashable, Sendable {
    public let first: Int64
    public let second: Int64

    public init(first: Int64, second: Int64) { (self.first, self.second) = (first, second) }
  }

  /// Unix seconds.
  public var time: Int64
  public var action: AuditAction
  public var outcome: AuditOutcome
  /// Nil for the daemon itself.
  public var caller: Caller?
  /// The name of an item, or what else it was about, such as a subject or a slot.
  public var item: String?
  /// The item that had this name, where one was found: it keeps its identity under any name. Entries of earlier programs
  /// have none.
  public var id: ItemID?
  /// More of what was asked, such as a query or an item's new name.
  public var detail: String?
  /// The caller's own words for what it wanted that for: one line of at most 120 characters.
  public var purpose: String?
  /// For what happened more than once.
  public var repeats: Repeats?
  /// True when what is equal was counted after it, so that a later entry may tell more of this one.
  public var isCounted = false
  /// The subject whose part of the log it took, where the caller does not tell: a member of a group does not say by
  /// which of its groups it was let in.
  public var subject: Subject?

  public init(
    time: Int64, action: AuditAction, outcome: AuditOutcome, caller: Caller? = nil, item: String? = nil,
    detail: String? = nil, purpose: String? = nil, repeats: Repeats? = nil
  ) {
    (self.time, self.action, self.outcome, self.caller) = (time, action, outcome, caller)
    (self.item, self.detail, self.purpose, self.repeats) = (item, detail, purpose, repeats)
  }

  /// The most bytes of ``item`` and of ``detail``: what is longer is cut.
  public static let longestText = 1024
  /// The most characters of a caller's own words.
  public static let longestPurpose = 120
}

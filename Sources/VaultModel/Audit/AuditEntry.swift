/// One event in a vault, as its audit log records it.
public struct AuditEntry: Hashable, Sendable {
  /// A process, as the kernel described it when it connected.
  public struct Caller: Hashable, Sendable {
    /// The door through which the process asked, such as `varlink`.
    public var door: String
    public var uid: UInt32
    /// The process ID; 0 if the entry concerns several processes together.
    public var pid: Int32
    /// The unit of the process: of the system's service manager, or else of its user's own. Nil if it belongs to none.
    public var unit: String?
    /// The executable file of the process. Advisory, because a process can influence it. Nil if it
    /// could not be determined.
    public var executable: String?

    public init(door: String, uid: UInt32, pid: Int32, unit: String? = nil, executable: String? = nil) {
      (self.door, self.uid, self.pid, self.unit, self.executable) = (door, uid, pid, unit, executable)
    }
  }

  /// A reference to an earlier entry of which this entry reports repetitions.
  public struct Repeats: Hashable, Sendable {
    /// The number of that entry; nil if the events were only counted, without an entry of their own.
    public var of: Int64?
    /// The number of times that the event happened.
    public var count: UInt32

    public init(of: Int64?, count: UInt32) { (self.of, self.count) = (of, count) }
  }

  /// A subject, identified by the beginning of the hash of its name.
  public struct Subject: Hashable, Sendable {
    public let first: Int64
    public let second: Int64

    public init(first: Int64, second: Int64) { (self.first, self.second) = (first, second) }
  }

  /// The time of the event, Unix seconds.
  public var time: Int64
  public var action: AuditAction
  public var outcome: AuditOutcome
  /// The process that caused the event; nil for the daemon itself.
  public var caller: Caller?
  /// The name of an item, or of another object of the event, such as a subject or a slot.
  public var item: String?
  /// The identity of the item that had this name, if such an item was found. The identity stays the same under any
  /// name. Entries of earlier programs have none.
  public var id: ItemID?
  /// Further details of the call, such as a query or an item's new name.
  public var detail: String?
  /// The purpose in the caller's own words: one line of at most 120 characters.
  public var purpose: String?
  /// The repetitions, if the event happened more than once.
  public var repeats: Repeats?
  /// True if equal events after this entry were counted, so that a later entry may report repetitions of this one.
  public var isCounted = false
  /// The subject whose share of the log this entry uses up; nil if the caller alone determines that subject. A caller
  /// in several groups, for example, does not tell which of its groups gave it access.
  public var subject: Subject?

  public init(
    time: Int64, action: AuditAction, outcome: AuditOutcome, caller: Caller? = nil, item: String? = nil,
    detail: String? = nil, purpose: String? = nil, repeats: Repeats? = nil
  ) {
    (self.time, self.action, self.outcome, self.caller) = (time, action, outcome, caller)
    (self.item, self.detail, self.purpose, self.repeats) = (item, detail, purpose, repeats)
  }

  /// The highest number of bytes of ``item`` and of ``detail``; longer texts are cut. No other text of an entry or of
  /// its caller is longer.
  public static let longestText = 1024
  /// The highest number of characters of a caller's own words.
  public static let longestPurpose = 120
}

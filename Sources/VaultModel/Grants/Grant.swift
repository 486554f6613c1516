/// A permission: what the callers that are a subject may do to the items that a pattern is for.
public struct Grant: Hashable, Sendable {
  /// The callers.
  public var subject: Subject
  /// The items.
  public var pattern: ItemPattern
  /// What they may do.
  public var rights: Rights
  /// The name of the unit's credential that the item is; nil for a grant that makes none.
  public var credential: CredentialID?
  /// The time from which on it no longer counts, Unix seconds; nil means never.
  public var until: Int64?
  /// The time at which it was given, Unix seconds.
  public var created: Int64
  /// About when it was last needed, Unix seconds, to within a day; nil when it never was.
  public var used: Int64?

  /// Describes a permission.
  public init(
    subject: Subject, pattern: ItemPattern, rights: Rights, credential: CredentialID? = nil, until: Int64? = nil,
    created: Int64, used: Int64? = nil
  ) {
    self.subject = subject
    self.pattern = pattern
    self.rights = rights
    self.credential = credential
    self.until = until
    self.created = created
    self.used = used
  }

  /// True when it counts at a time, Unix seconds.
  public func counts(at now: Int64) -> Bool { until.map { now < $0 } ?? true }

  /// True when it lets the same callers do the same as another, whenever they did.
  public func isSame(as other: Grant) -> Bool {
    isInPlaceOf(other) && rights == other.rights && until == other.until && created == other.created
  }

  /// True when it is for the same callers and items as another, under the same name of a credential, in whose place it then
  /// comes.
  public func isInPlaceOf(_ other: Grant) -> Bool {
    subject == other.subject && pattern == other.pattern && credential == other.credential
  }
}

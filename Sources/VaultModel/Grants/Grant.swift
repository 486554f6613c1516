/// A permission: the rights that the callers matching a subject have on the items matching a pattern.
public struct Grant: Hashable, Sendable {
  /// The callers.
  public var subject: Subject
  /// The items.
  public var pattern: ItemPattern
  /// The rights of these callers on these items.
  public var rights: Rights
  /// The name under which the item is a credential of the unit; nil for a grant without a credential.
  public var credential: CredentialID?
  /// The time from which the grant no longer counts, Unix seconds; nil means never.
  public var until: Int64?
  /// The time at which the grant was given, Unix seconds.
  public var created: Int64
  /// The time at which the grant was last needed, Unix seconds, to within a day; nil if it was never needed.
  public var used: Int64?

  /// Describes a grant.
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

  /// True if the grant counts at `now`, Unix seconds.
  public func counts(at now: Int64) -> Bool { until.map { now < $0 } ?? true }

  /// True if this grant gives the same callers the same rights as `other`, whenever either was last used.
  public func isSame(as other: Grant) -> Bool {
    isInPlaceOf(other) && rights == other.rights && until == other.until && created == other.created
  }

  /// True if this grant is for the same callers and items as `other`, under the same credential name,
  /// and so replaces `other`.
  public func isInPlaceOf(_ other: Grant) -> Bool {
    subject == other.subject && pattern == other.pattern && credential == other.credential
  }
}

/// A value or a set of attributes that its kind does not accept.
public struct ValueError: Error, Hashable, Sendable {
  /// The fault, for a person to read. It never holds any part of the value.
  public let reason: String

  /// Makes an error with a reason that must not quote the value.
  public init(reason: String) { self.reason = reason }
}

/// The facts that were learned while a value was checked.
public struct ValueFacts: Hashable, Sendable {
  /// The time at which the value stops being valid by itself (a certificate's notAfter): Unix seconds, `nil` when it
  /// says nothing.
  public var expires: Int64?
  /// The public half of a key, in SSH's form (RFC 4253 section 6.6).
  public var publicKey: [UInt8]?

  /// Makes facts with an end of validity in Unix seconds.
  public init(expires: Int64? = nil) { self.expires = expires }
}

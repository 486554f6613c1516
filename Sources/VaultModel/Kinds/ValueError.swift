/// A value or a set of attributes that the kind does not accept.
public struct ValueError: Error, Hashable, Sendable {
  /// The fault, for a person to read. It never contains any part of the value.
  public let reason: String

  /// Makes an error with a reason, which must not quote the value.
  public init(reason: String) { self.reason = reason }
}

/// The facts learned while a value was checked.
public struct ValueFacts: Hashable, Sendable {
  /// The time at which the value itself ceases to be valid (a certificate's notAfter), Unix seconds; `nil` if the value
  /// does not state it.
  public var expires: Int64?
  /// The public half of a key, in SSH's form (RFC 4253 section 6.6).
  public var publicKey: [UInt8]?

  /// Makes facts with an end of validity in Unix seconds.
  public init(expires: Int64? = nil) { self.expires = expires }
}

internal import VaultSigning

/// The conditions under which a client lets the agent hold and use a key (RFC 9987, key constraints).
public struct KeyConstraints: Hashable, Sendable {
  /// The number of seconds from now after which the key must be removed; 0 means at once. Nil if it may stay.
  public private(set) var lifetime: UInt32?
  /// True if a person must agree to each use.
  public private(set) var needsConfirmation = false
  /// The hosts for which the key may be used; nil if there is no limit.
  public private(set) var destinations: DestinationConstraints?

  /// Makes constraints without any condition.
  public init() {}

  /// Reads constraints up to the end of the message. Each constraint may occur once. An unknown one is refused, because
  /// it cannot be enforced and only its author knows where it ends.
  init(_ reader: inout SSHReader, _ frame: RawSpan) throws(SSHFormatError) {
    while !reader.isAtEnd {
      switch try reader.byte(frame) {
      case 1:
        guard lifetime == nil else { throw Self.repeated }
        lifetime = try reader.uint32(frame)
      case 2:
        guard !needsConfirmation else { throw Self.repeated }
        needsConfirmation = true
      case 255: try readExtension(&reader, frame)
      default: throw SSHFormatError("a constraint is of an unknown type")
      }
    }
  }

  private mutating func readExtension(_ reader: inout SSHReader, _ frame: RawSpan) throws(SSHFormatError) {
    switch try reader.text(frame, atMost: 256) {
    case DestinationConstraints.name:
      guard destinations == nil else { throw Self.repeated }
      destinations = try DestinationConstraints(frame, try reader.string(frame))
    case "sk-provider@openssh.com": throw SSHFormatError("a security key's own program has to sign with it")
    case "associated-certs-v00@openssh.com": throw SSHFormatError("certificates belong to keys of smartcards alone")
    default: throw SSHFormatError("a constraint is an unknown extension")
    }
  }

  private static var repeated: SSHFormatError { SSHFormatError("a constraint is there twice") }
}

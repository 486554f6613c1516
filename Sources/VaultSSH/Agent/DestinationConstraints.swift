public import VaultSigning

/// The hosts for which a key may be used, step by step (`ssh-add -h`; OpenSSH's PROTOCOL.agent section 2).
///
/// The rules are those of OpenSSH's ssh-agent, but one is stricter: a host that proves its identity with a certificate
/// never matches. To accept one, the agent would have to decide whether the certificate is valid, for which names and
/// until when, and nothing here reads certificates. So a key with ``DestinationConstraint/Key/isAuthority`` never
/// matches, and such a constraint permits less than in OpenSSH.
public struct DestinationConstraints: Hashable, Sendable {
  /// The name of the extension among a key's constraints.
  public static let name = "restrict-destination-v00@openssh.com"
  /// The highest number of steps of a key.
  public static let limit = 1024

  /// The steps, at least one.
  public let steps: [DestinationConstraint]

  /// Makes constraints from their steps.
  ///
  /// - Precondition: There are 1 to ``limit`` steps.
  public init(_ steps: [DestinationConstraint]) {
    precondition((1...Self.limit).contains(steps.count), "a key has 1 to \(Self.limit) steps")
    self.steps = steps
  }

  /// Reads the extension's content as ``encoded()`` writes it and as an item stores it.
  public init(_ content: RawSpan) throws(SSHFormatError) { try self.init(content, 0..<content.byteCount) }

  /// Reads the extension's content from `range` of `frame`. An empty list is refused: the key would be unconstrained
  /// although its owner believes it to be constrained.
  init(_ frame: RawSpan, _ range: Range<Int>) throws(SSHFormatError) {
    var reader = SSHReader(range)
    var steps: [DestinationConstraint] = []
    while !reader.isAtEnd {
      guard steps.count < Self.limit else { throw SSHFormatError("a key has too many constraints") }
      steps.append(try DestinationConstraint(frame, try reader.string(frame)))
    }
    guard !steps.isEmpty else { throw SSHFormatError("a key is constrained to no destination") }
    self.steps = steps
  }

  /// The content of the extension.
  public func encoded() -> [UInt8] {
    var writer = SSHWriter()
    for step in steps { step.write(to: &writer) }
    return writer.bytes
  }
}

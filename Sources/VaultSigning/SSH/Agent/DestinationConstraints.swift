/// The hosts that a key may be used for, step by step (`ssh-add -h`; OpenSSH's PROTOCOL.agent section 2).
///
/// The rules are those of OpenSSH's ssh-agent, with one that is stricter: no host that proves itself by a certificate is
/// matched. Whether a certificate holds, for which names and until when, would have to be decided for it, and nothing here
/// reads certificates; so a key with ``DestinationConstraint/Key/isAuthority`` never matches, and such a constraint permits
/// less than with OpenSSH.
public struct DestinationConstraints: Hashable, Sendable {
  /// The name of the extension of a key's constraints.
  public static let name = "restrict-destination-v00@openssh.com"
  /// The number of steps that a key may have.
  public static let limit = 1024

  /// The steps, one at least.
  public let steps: [DestinationConstraint]

  /// Makes constraints of their steps.
  ///
  /// - Precondition: there are 1 to ``limit`` steps.
  public init(_ steps: [DestinationConstraint]) {
    precondition((1...Self.limit).contains(steps.count), "a key has 1 to \(Self.limit) steps")
    self.steps = steps
  }

  /// Reads the content of the extension that ``encoded()`` writes, as an item keeps it.
  public init(_ content: RawSpan) throws(SSHFormatError) { try self.init(content, 0..<content.byteCount) }

  /// Reads the content of the extension from `range` of `frame`. None at all are refused: it would be a key with no
  /// constraint that its owner takes for one with some.
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

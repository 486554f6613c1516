internal import VaultSigning

/// One permitted step of a key's use: from a host, or from this machine, to a user at another host (OpenSSH's
/// PROTOCOL.agent section 2).
public struct DestinationConstraint: Hashable, Sendable {
  /// The host from which the key is used; this machine is a host without name and keys.
  public let from: Host
  /// The host at which the key logs in.
  public let to: Host

  /// A host in a constraint.
  public struct Host: Hashable, Sendable {
    /// A pattern for the user's name with `*` and `?`, at most 256 bytes; empty if any user is allowed.
    public let user: String
    /// The name under which the person knows the host; it is compared with nothing.
    public let name: String
    /// The keys with which the host proves its identity.
    public let keys: [Key]

    /// Makes a host; without a name and keys, it is this machine.
    public init(user: String = "", name: String = "", keys: [Key] = []) {
      self.user = user
      self.name = name
      self.keys = keys
    }
  }

  /// A key of a host.
  public struct Key: Hashable, Sendable {
    /// The public key blob.
    public let blob: [UInt8]
    /// True if the key belongs to an authority that certifies hosts; see ``DestinationConstraints``.
    public let isAuthority: Bool

    /// Makes a key from its blob.
    public init(blob: [UInt8], isAuthority: Bool = false) {
      self.blob = blob
      self.isAuthority = isAuthority
    }
  }

  /// Makes a step, from this machine unless `from` is given.
  public init(from: Host = Host(), to: Host) {
    self.from = from
    self.to = to
  }

  /// Reads the constraint in `range` of `frame`.
  init(_ frame: RawSpan, _ range: Range<Int>) throws(SSHFormatError) {
    var reader = SSHReader(range)
    from = try Host(frame, try reader.string(frame))
    to = try Host(frame, try reader.string(frame))
    guard try reader.string(frame).isEmpty else { throw SSHFormatError("a reserved field is not empty") }
    try reader.finish()
    guard from.user.isEmpty, from.name.isEmpty == from.keys.isEmpty else {
      throw SSHFormatError("a constraint begins at no host")
    }
    guard !to.name.isEmpty, !to.keys.isEmpty else { throw SSHFormatError("a constraint ends at no host") }
  }

  func write(to writer: inout SSHWriter) {
    var content = SSHWriter()
    for host in [from, to] {
      var fields = SSHWriter()
      host.write(to: &fields)
      content.string(fields.bytes)
    }
    content.string("")
    writer.string(content.bytes)
  }
}

extension DestinationConstraint.Host {
  init(_ frame: RawSpan, _ range: Range<Int>) throws(SSHFormatError) {
    var reader = SSHReader(range)
    user = try reader.text(frame, atMost: 256)
    name = try reader.text(frame, atMost: 1024)
    guard try reader.string(frame).isEmpty else { throw SSHFormatError("a reserved field is not empty") }
    var keys: [DestinationConstraint.Key] = []
    while !reader.isAtEnd {
      let blob = try reader.array(frame)
      _ = try KeyBlob.type(blob)
      keys.append(.init(blob: blob, isAuthority: try reader.boolean(frame)))
    }
    self.keys = keys
  }

  func write(to writer: inout SSHWriter) {
    writer.string(user)
    writer.string(name)
    writer.string("")
    for key in keys {
      writer.string(key.blob)
      writer.boolean(key.isAuthority)
    }
  }
}

internal import VaultBytes
internal import VaultModel

/// The names of a host key in a user's known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").
///
/// The names are for telling a person which host a key belongs to, not for deciding whether to trust it.
public struct KnownHosts: Hashable, Sendable {
  /// The names of the host in the order of the file, each once: plain names, such as `example.com` and
  /// `[example.com]:2222`, and candidates that match a pattern or a hashed name. Each is printable ASCII of at most
  /// ``maximumName`` bytes; there are at most ``maximumNames``.
  public private(set) var names: [String] = []
  /// True if a line states that the key, or that of the certificate's authority, is revoked, for any host. This is
  /// stricter than ssh, which asks about one host.
  public private(set) var isRevoked = false
  /// True if a line states that the key is that of an authority. Such a line says nothing about a host that
  /// has the key itself.
  public private(set) var isAuthority = false

  /// The highest number of bytes of a name: a domain name of 253 in brackets, and a port.
  public static let maximumName = 261
  /// The highest number of ``names``.
  public static let maximumNames = 16
  /// The highest number of names that are compared with those of a line. If a file has many lines for one key,
  /// the rest is ignored.
  static let maximumTrials = 4096

  /// Looks for a host key in the text of a known_hosts file; invalid lines are skipped.
  ///
  /// A certificate is found by the lines of the key in it, and by those of the authority that has signed it. The latter
  /// name the host only as the certificate itself does.
  ///
  /// - Parameters:
  ///   - hostKey: The blob of a host key, or of a host's certificate.
  ///   - candidates: The names that the host may have. A hashed name cannot be read back, so only a candidate can match
  ///     it; each such line costs a hash for each candidate.
  public init(of hostKey: [UInt8], in text: RawSpan, candidates: [String] = []) {
    self.init(of: HostKey(hostKey), in: text, candidates: candidates)
  }

  /// Looks for a host key like ``init(of:in:candidates:)``.
  public init(of hostKey: HostKey, in text: RawSpan, candidates: [String] = []) {
    guard let key = Written(hostKey.plain) else { return }
    let (certificate, authority) = (hostKey.certificate, hostKey.certificate.flatMap { Written($0.authority) })
    let shortest = min(key.base64.count, authority?.base64.count ?? .max)
    let candidates = candidates.map { Array($0.utf8) }.filter(Self.isName)
    var trials = Self.maximumTrials
    var start = 0
    while start < text.byteCount {
      let end = text.first(UInt8(ascii: "\n"), from: start)
      if end - start > shortest, let line = KnownHostLine(text, start..<end) {
        if line.isAbout(key.type, key.base64, in: text) {
          add(line, text, candidates, &trials)
        } else if let certificate, let authority, line.isAbout(authority.type, authority.base64, in: text) {
          add(line, of: certificate, text, candidates, &trials)
        }
      }
      start = end + 1
    }
  }

  /// A key as a line of the file has it.
  private struct Written {
    let type: [UInt8]
    let base64: [UInt8]

    init?(_ blob: [UInt8]) {
      guard let name = try? KeyBlob.type(blob) else { return nil }
      (type, base64) = (Array(name.utf8), Array(blob.base64.utf8))
    }
  }

  /// Takes in a line about the host's key.
  private mutating func add(_ line: KnownHostLine, _ text: RawSpan, _ candidates: [[UInt8]], _ trials: inout Int) {
    switch line.marker {
    case .revoked: isRevoked = true
    case .authority: isAuthority = true
    case nil: addNames(HostList(text, line.hosts), candidates, &trials) { _ in true }
    }
  }

  /// Takes in a line about the key of the authority that has signed the host's certificate.
  private mutating func add(
    _ line: KnownHostLine, of certificate: HostCertificate, _ text: RawSpan, _ candidates: [[UInt8]],
    _ trials: inout Int
  ) {
    switch line.marker {
    case .revoked: isRevoked = true
    case .authority:
      let candidates = candidates + certificate.plainNames.filter(Self.isName)
      addNames(HostList(text, line.hosts), candidates, &trials, where: certificate.permits)
    // Such a line is about the host that has the key itself.
    case nil: break
    }
  }

  private mutating func addNames(
    _ hosts: HostList, _ candidates: [[UInt8]], _ trials: inout Int, where isPermitted: ([UInt8]) -> Bool
  ) {
    guard names.count < Self.maximumNames else { return }
    let tried = (hosts.plainNames.filter(Self.isName) + candidates).prefix(trials)
    trials -= tried.count
    for name in tried where hosts.includes(name) && isPermitted(name) {
      let name = String(decoding: name, as: UTF8.self)
      if names.count < Self.maximumNames, !names.contains(name) { names.append(name) }
    }
  }

  private static func isName(_ bytes: [UInt8]) -> Bool {
    (1...maximumName).contains(bytes.count) && bytes.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}

internal import VaultModel

/// The names that a user's known_hosts file has for a host key (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").
///
/// It is for telling a person which host a key belongs to, not for deciding whether to trust it.
public struct KnownHosts: Hashable, Sendable {
  /// The names of the host in the order of the file, each once: plain ones, such as `example.com` and `[example.com]:2222`,
  /// and those of the candidates that a pattern or a hashed name fits. Printable ASCII, at most ``maximumName`` bytes each,
  /// at most ``maximumNames``.
  public private(set) var names: [String] = []
  /// True when a line has the key as revoked, for whatever host: stricter than ssh, which asks about one host.
  public private(set) var isRevoked = false
  /// True when a line has the key as that of an authority. Such a line says nothing of a host that has the key itself.
  public private(set) var isAuthority = false

  /// The bytes that a name may have: a domain name of 253 between brackets, and a port.
  public static let maximumName = 261
  /// The number of names that are looked for.
  public static let maximumNames = 16
  /// The number of names that are held against a line's: the rest of a file of many lines for one key is not looked at.
  static let maximumTrials = 4096

  /// Looks for a host key in the text of a known_hosts file; bad lines are skipped.
  ///
  /// - Parameters:
  ///   - hostKey: the blob of a plain host key.
  ///   - candidates: names that the host may have. A hashed name cannot be read back, so the line is found by these alone;
  ///     each such line costs a hash for each.
  public init(of hostKey: [UInt8], in text: RawSpan, candidates: [String] = []) {
    guard let name = try? KeyBlob.type(hostKey) else { return }
    let (type, key) = (Array(name.utf8), Array(hostKey.base64.utf8))
    let candidates = candidates.map { Array($0.utf8) }.filter(Self.isName)
    var trials = Self.maximumTrials
    var start = 0
    while start < text.byteCount {
      let end = text.first(UInt8(ascii: "\n"), from: start)
      if end - start > key.count, let line = KnownHostLine(text, start..<end), line.isAbout(type, key, in: text) {
        add(line, text, candidates, &trials)
      }
      start = end + 1
    }
  }

  private mutating func add(_ line: KnownHostLine, _ text: RawSpan, _ candidates: [[UInt8]], _ trials: inout Int) {
    switch line.marker {
    case .revoked: isRevoked = true
    case .authority: isAuthority = true
    case nil:
      guard names.count < Self.maximumNames else { return }
      let hosts = HostList(text, line.hosts)
      let tried = (hosts.plainNames.filter(Self.isName) + candidates).prefix(trials)
      trials -= tried.count
      for name in tried where hosts.includes(name) {
        let name = String(decoding: name, as: UTF8.self)
        if names.count < Self.maximumNames, !names.contains(name) { names.append(name) }
      }
    }
  }

  private static func isName(_ bytes: [UInt8]) -> Bool {
    (1...maximumName).contains(bytes.count) && bytes.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}

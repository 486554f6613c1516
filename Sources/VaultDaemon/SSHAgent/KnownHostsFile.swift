internal import Glibc
internal import VaultService
internal import VaultSigning

/// The file in which ssh keeps the keys of hosts, to name one to a person.
struct KnownHostsFile {
  /// The most of it that is read, in bytes.
  private static let limit = 1 << 20

  private let path: String?

  init(home: String?) { path = home.map { $0 + "/.ssh/known_hosts" } }

  /// The name of a host by its key, and otherwise the fingerprint of that.
  ///
  /// - Parameter candidates: names that it may have, for lines whose names are hashed.
  func name(of hostKey: [UInt8], candidates: [String]) -> String {
    let text = path.flatMap { TextFile.read($0, limit: Self.limit) }.map { Array($0.utf8) } ?? []
    // Bytes have no padding.
    let found = KnownHosts(of: hostKey, in: unsafe text.span.bytes, candidates: candidates)
    let name = found.names.first ?? "an unknown host"
    if found.isRevoked { return "\(name), WHOSE KEY IS REVOKED" }
    guard found.names.isEmpty, let key = try? PublicKey(sshBlob: unsafe hostKey.span.bytes) else { return name }
    return "\(name) (\(key.fingerprint))"
  }

  /// The words of a process's command line that can be the name of a host; ssh itself is told it there.
  static func candidates(of pid: pid_t) -> [String] {
    guard let text = ProcFile.read("/proc/\(pid)/cmdline") else { return [] }
    let words = text.split(separator: 0).prefix(64).map { String(decoding: $0, as: UTF8.self) }
    let ports =
      (zip(words, words.dropFirst()).filter { $0.0 == "-p" }.map(\.1)
      + words.filter { $0.hasPrefix("-p") }.map { String($0.dropFirst(2)) }).filter { UInt16($0) != nil }
    var names: [String] = []
    for word in words where !word.hasPrefix("-") && word.utf8.count <= KnownHosts.maximumName {
      let host = word.split(separator: "@").last.map(String.init) ?? word
      names.append(host)
      // A port of its own stands in brackets there.
      for port in ports { names.append("[\(host)]:\(port)") }
    }
    return names
  }
}

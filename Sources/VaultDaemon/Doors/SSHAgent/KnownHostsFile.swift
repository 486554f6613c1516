internal import Glibc
internal import VaultSSH
internal import VaultService
internal import VaultSigning

/// The file in which ssh keeps the keys of hosts. It is used to tell a person the name of a host.
final class KnownHostsFile {
  /// The most bytes that are read from the file.
  private static let limit = 1 << 20
  /// The most names that are kept.
  private static let mostKept = 64

  private struct Question: Hashable {
    let hostKey: [UInt8]
    let candidates: [String]
  }

  private let path: String?
  /// The names that were found, until the file changes: it takes milliseconds to search a long file.
  private var kept: (stamp: FileStamp, names: [Question: String])?

  init(home: String?) { path = home.map { $0 + "/.ssh/known_hosts" } }

  /// The name of the host with this key or certificate, or else the key's fingerprint.
  ///
  /// - Parameter candidates: names that the host may have, for lines with hashed names.
  func name(of hostKey: [UInt8], candidates: [String]) -> String {
    guard let path, let stamp = FileStamp(following: path) else { return find(hostKey, in: "", candidates) }
    let question = Question(hostKey: hostKey, candidates: candidates)
    if kept?.stamp != stamp || kept?.names.count ?? 0 >= Self.mostKept { kept = (stamp, [:]) }
    if let name = kept?.names[question] { return name }
    let text = TextFile.read(path, limit: Self.limit, followsLink: true) ?? ""
    let name = find(hostKey, in: text, candidates)
    kept?.names[question] = name
    return name
  }

  private func find(_ hostKey: [UInt8], in text: String, _ candidates: [String]) -> String {
    let (text, key) = (Array(text.utf8), HostKey(hostKey))
    // Bytes have no padding.
    let found = KnownHosts(of: key, in: unsafe text.span.bytes, candidates: candidates)
    let name = found.names.first ?? "an unknown host"
    if found.isRevoked { return "\(name), WHOSE KEY IS REVOKED" }
    guard found.names.isEmpty, let plain = try? PublicKey(sshBlob: unsafe key.plain.span.bytes) else { return name }
    return "\(name) (\(plain.fingerprint)\(Self.certificate(of: key)))"
  }

  private static func certificate(of key: HostKey) -> String {
    guard key.isCertificate else { return "" }
    guard let certificate = key.certificate else { return ", with a certificate that is not valid" }
    return ", certified by \(PublicKey.fingerprint(ofSSHBlob: certificate.authority))"
  }

  /// The words of a process's command line that may be the name of a host. ssh gets the host's name there.
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
      // The file writes a host with a non-default port in brackets.
      for port in ports { names.append("[\(host)]:\(port)") }
    }
    return names
  }
}

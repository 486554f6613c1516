internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The credentials that git asks about, and the items that hold them.
///
/// The item `git/https/example.org/ana` holds ana's password for that host. The item
/// `git/https/example.org/team%2Frepo.git/ana` holds the password for a path, which git sends if
/// `credential.useHttpPath` is set. An OAuth refresh token is stored below its item as `%oauth_refresh_token`, which
/// cannot be a user's name.
struct GitPlace {
  /// The folder of all git credentials.
  static let root = "git"
  static let refreshToken = "%oauth_refresh_token"

  /// The folders of a host: first the one for new items and, if git spells the protocol or the host differently, the
  /// ones with git's spelling, which earlier versions used.
  let folders: [String]
  private let path: [UInt8]?
  private let username: [UInt8]?

  /// Nil unless git named a protocol and a host: only an attacker would ask for the credentials of any host.
  init?(_ said: borrowing GitAttributes) {
    guard let scheme = said.name(.protocol), !scheme.isEmpty, let host = said.name(.host) else { return nil }
    var (schemes, hosts) = ([scheme], [host])
    if let protocolName = said.string(.protocol).map(URLSpelling.lowercased) {
      if Array(protocolName.utf8) != scheme { schemes.insert(Array(protocolName.utf8), at: 0) }
      if let text = said.string(.host) {
        let usual = Array(URLSpelling.host(text, scheme: protocolName).utf8)
        if usual != host { hosts.insert(usual, at: 0) }
      }
    }
    folders = schemes.flatMap { scheme in
      hosts.map { "\(Self.root)/\(NameSegment.encode(scheme))/\(NameSegment.encode($0))" }
    }
    path = said.name(.path).map(Self.withoutSlashes)
    username = said.name(.username)
  }

  /// The name of this credential's item. Its last part stands for an empty name if there is no user.
  var name: String { names[0] }

  /// The item's name in each of the host's folders.
  var names: [String] {
    folders.map { folder in
      ([folder] + [path, username ?? []].compactMap { $0 }.map { NameSegment.encode($0) }).joined(separator: "/")
    }
  }

  /// Returns the user of an item's credential; nil unless git asks about that credential. Any user or path matches if
  /// git named none.
  func user(of item: String) -> (name: [UInt8], hasPath: Bool)? {
    guard let folder = folders.first(where: { item.hasPrefix($0 + "/") }) else { return nil }
    let parts = item.utf8.dropFirst(folder.utf8.count + 1).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let user = parts.last.flatMap({ NameSegment.decode(Substring($0)) }) else {
      return nil
    }
    let itsPath = parts.count == 2 ? NameSegment.decode(Substring(parts[0])) : nil
    if parts.count == 2, itsPath == nil { return nil }
    guard path == nil || path == itsPath.map(Self.withoutSlashes), username == nil || username == user else {
      return nil
    }
    return (user, itsPath != nil)
  }

  /// A path without the slashes at its end, which do not count.
  private static func withoutSlashes(_ path: [UInt8]) -> [UInt8] {
    Array(path.prefix(path.count - path.reversed().prefix { $0 == UInt8(ascii: "/") }.count))
  }
}

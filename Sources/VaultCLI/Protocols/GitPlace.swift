internal import VaultModel
internal import VaultWire

/// The credentials that git speaks of, and the items that they are.
///
/// `git/https/example.org/ana` is ana's password there, and `git/https/example.org/team%2Frepo.git/ana` the one for a path,
/// which git names where `credential.useHttpPath` is set. An OAuth refresh token is `%oauth_refresh_token` below its item, which
/// no user is called.
struct GitPlace {
  /// The folder of all.
  static let root = "git"
  static let refreshToken = "%oauth_refresh_token"

  /// The folders of a host: as it is stored where there is nothing, and, where git spells it otherwise, as an earlier program
  /// stored it.
  let folders: [String]
  private let path: [UInt8]?
  private let username: [UInt8]?

  /// Nil unless git has named a protocol and a host: a credential for any host is one that an attacker asks for.
  init?(_ said: borrowing GitAttributes) {
    guard let scheme = said.name(.protocol), !scheme.isEmpty, let host = said.name(.host) else { return nil }
    var hosts = [host]
    if let protocolName = said.string(.protocol), let text = said.string(.host) {
      let usual = Array(URLSpelling.host(text, scheme: protocolName.lowercased()).utf8)
      if usual != host { hosts.insert(usual, at: 0) }
    }
    folders = hosts.map { "\(Self.root)/\(NameSegment.encode(scheme))/\(NameSegment.encode($0))" }
    path = said.name(.path).map(Self.withoutSlashes)
    username = said.name(.username)
  }

  /// The name of the item of this credential; one without a user is called so by an empty name.
  var name: String { names[0] }

  /// The same in each of the host's folders.
  var names: [String] {
    folders.map { folder in
      ([folder] + [path, username ?? []].compactMap { $0 }.map { NameSegment.encode($0) }).joined(separator: "/")
    }
  }

  /// The user whose credential an item is; nil unless it is one of those that git speaks of. What git does not say does not
  /// matter.
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

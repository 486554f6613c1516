internal import VaultBytes
internal import VaultWire

/// The reader of the file of git-credential-store(1), `.git-credentials`: a URL with a user and a password, both with
/// percent escapes, in each line.
///
/// A line is the item that `vault helper git` looks up: `git/https/example.org/ana`, or with a path
/// `git/https/example.org/team%2Frepo.git/ana`.
enum GitCredentialsReader: CredentialFile {
  static let format = FileFormat.gitCredentials
  static let detail = "git's stored credentials"

  static func isNamed(_ file: Source.File) -> Bool {
    file.isNamed(".git-credentials") || file.path.hasSuffix("git/credentials")
  }

  static func isAlike(_ file: Source.File) -> Bool {
    let lines = file.firstLines.filter { !$0.trimmed.isEmpty }
    return !lines.isEmpty && lines.allSatisfy { GitURL($0.trimmed)?.password != nil }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      var (settings, count) = (Entry(settingsOf: file), 0)
      for line in try file.lines() where !line.trimmed.isEmpty {
        if let url = GitURL(line.bytes), let entry = url.entry {
          try found.add(entry)
          count += 1
        } else {
          settings.addSetting(
            "line \(line.number)", size: line.bytes.count, "it is no URL with a user and a password, and git ignores it"
          )
        }
      }
      guard count > 0 || settings.fields.isEmpty else {
        throw ImportFailure(.damaged, "no line is a URL with a user and a password")
      }
      if !settings.fields.isEmpty { try found.add(settings) }
    }
  }
}

/// A URL with credentials, divided and decoded as git's credential.c does it.
private struct GitURL {
  let scheme: String
  let user: [UInt8]?
  let password: [UInt8]?
  let host: [UInt8]
  let path: [UInt8]

  init?(_ line: ArraySlice<UInt8>) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[(colon + 1)...].starts(with: "//".utf8)
    else { return nil }
    scheme = line[..<colon].text
    let rest = line[(colon + 3)...]
    let authority = rest.prefix { !"/?#".utf8.contains($0) }
    if let (own, host) = authority.divided(at: UInt8(ascii: "@")) {
      let parts = own.divided(at: UInt8(ascii: ":"))
      (user, password) = (Self.decoded(parts?.0 ?? own), parts.map { Self.decoded($0.1) })
      self.host = Self.decoded(host)
    } else {
      (user, password, host) = (nil, nil, Self.decoded(authority))
    }
    let slash = UInt8(ascii: "/")
    let path = rest[authority.endIndex...].drop { $0 == slash }
    self.path = Self.decoded(path.lastIndex { $0 != slash }.map { path[...$0] } ?? [])
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array(bytes).withSpan { span in
      var (decoded, place): ([UInt8], Int) = ([], 0)
      while place < span.byteCount {
        let (byte, count) = PercentEscape.byte(span, at: place, before: span.byteCount)
        decoded.append(byte)
        place += count
      }
      return decoded
    }
  }

  /// The entry; nil without a user and a password, which git would not return either.
  var entry: Entry? {
    guard let user, let password, !user.isEmpty || password.isEmpty else { return nil }
    let scheme = URLSpelling.lowercased(scheme)
    let host = String(validating: host, as: UTF8.self).map { URLSpelling.host($0, scheme: scheme) }
    let parts = [Array(scheme.utf8), host.map { Array($0.utf8) } ?? self.host] + (path.isEmpty ? [] : [path]) + [user]
    var entry = Entry(.login, at: ["git"] + parts.map { NameSegment.encode($0) })
    entry.put("URL", .url, Array("\(scheme)://".utf8) + self.host + (path.isEmpty ? [] : [UInt8(ascii: "/")] + path))
    entry.put("user", .username, user)
    if password.isEmpty { entry.add("password", .password, "") } else { entry.put("password", .password, password) }
    return entry
  }
}

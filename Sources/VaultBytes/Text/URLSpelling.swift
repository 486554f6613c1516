/// The spellings of a URL or a host that mean the same place: the one rule by which every helper looks up a name.
///
/// Scheme and host do not depend on letter case, and the scheme's default port may be left out (RFC 3986, sections
/// 6.2.2.1 and 6.2.3). Slashes at the end do not count, and a name without a scheme means `https`. A place with another
/// scheme, host, port or path is a different one: a value that was stored for `https` is never handed out for `http`.
package struct URLSpelling {
  /// The spelling for a new item: scheme, host and port in their usual form, the rest as written.
  package let usual: String
  /// The spellings to look up, the best first: as written, as stored, then without and with a slash at the end and, for
  /// `https`, without and with the scheme.
  package let all: [String]

  package init(_ text: String) {
    guard let place = Place(text) else {
      (usual, all) = (text, [text])
      return
    }
    usual = place.written
    let bare = place.authority + place.path
    let https = "https://"
    let stems =
      switch place.scheme {
      case nil, "https": [bare, https + bare]
      case let scheme?: [scheme + "://" + bare]
      }
    var all = [text]
    for name in [usual] + stems.flatMap({ [$0, $0 + "/"] }) where !all.contains(name) { all.append(name) }
    self.all = all
  }

  /// Returns a host in its usual form, for a place with that scheme.
  package static func host(_ authority: String, scheme: String) -> String { Place.usual(authority, scheme) }

  /// Replaces ASCII upper-case letters by lower-case ones.
  package static func lowercased(_ text: String) -> String {
    String(
      decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// A name of a place, split into its parts.
  private struct Place {
    let scheme: String?
    let authority: String
    /// The path and everything after it, without slashes at its end.
    let path: String
    let written: String

    /// Nil for a name that is neither a URL nor a host: such a name has one spelling only.
    init?(_ text: String) {
      var rest = Substring(text)
      var scheme: String?
      if let mark = text.firstRange(of: "://") {
        scheme = URLSpelling.lowercased(String(text[..<mark.lowerBound]))
        rest = text[mark.upperBound...]
        guard let scheme, !scheme.isEmpty, scheme.utf8.allSatisfy(Self.isOfScheme) else { return nil }
      }
      let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
      let authority = String(rest[..<end])
      guard !authority.isEmpty, authority.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
      // A single word may mean anything.
      guard scheme != nil || authority == "localhost" || authority.contains(".") || authority.contains(":") else {
        return nil
      }
      let tail = rest[end...]
      self.scheme = scheme
      self.authority = Self.usual(authority, scheme ?? "https")
      var path = tail
      while path.last == "/" { path.removeLast() }
      self.path = String(path)
      let slash = path.utf8.count < tail.utf8.count ? "/" : ""
      written = (scheme.map { $0 + "://" } ?? "") + self.authority + path + slash
    }

    /// Returns a host with its port, in lower case and without the scheme's default port. A user before the host stays
    /// as it is.
    static func usual(_ authority: String, _ scheme: String) -> String {
      let at = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
      var host = URLSpelling.lowercased(String(authority[at...]))
      // `sparse+https` is a scheme of cargo.
      let port = scheme == "https" || scheme.hasSuffix("+https") ? ":443" : scheme == "http" ? ":80" : ""
      if !port.isEmpty, host.hasSuffix(port) { host.removeLast(port.count) }
      return authority[..<at] + host
    }

    private static func isOfScheme(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
        UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}

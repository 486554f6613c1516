/// The spellings of a URL, or of a host, that mean the same place: the one rule by which every helper looks a name up.
///
/// Scheme and host are alike in small and capital letters, a port that the scheme has anyway may be left out (RFC 3986, sections
/// 6.2.2.1 and 6.2.3), slashes at the end do not count, and a name without a scheme is one with `https`. A place with another
/// scheme, host, port or path is another one: nothing that was stored for `https` is handed out for `http`.
struct URLSpelling {
  /// The name as it is stored where there is none: scheme, host and port in their usual form, the rest as it was written.
  let usual: String
  /// The names under which it is looked up, the best first: as it was written, as it is stored, and then without and with a slash at
  /// the end and, for `https`, its scheme.
  let all: [String]

  init(_ text: String) {
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

  /// A host in its usual form, of a place with that scheme.
  static func host(_ authority: String, scheme: String) -> String { Place.usual(authority, scheme) }

  /// A name that means a place, taken apart.
  private struct Place {
    let scheme: String?
    let authority: String
    /// The path and what follows it, without slashes at its end.
    let path: String
    let written: String

    /// Nil for what is neither a URL nor a host: such a name means itself alone.
    init?(_ text: String) {
      var rest = Substring(text)
      var scheme: String?
      if let mark = text.firstRange(of: "://") {
        scheme = Self.lowercased(String(text[..<mark.lowerBound]))
        rest = text[mark.upperBound...]
        guard let scheme, !scheme.isEmpty, scheme.utf8.allSatisfy(Self.isOfScheme) else { return nil }
      }
      let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
      let authority = String(rest[..<end])
      guard !authority.isEmpty, authority.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
      // A word alone may be anything.
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

    /// A host with its port, in small letters and without a port that the scheme has anyway; a user before it stays.
    static func usual(_ authority: String, _ scheme: String) -> String {
      let at = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
      var host = lowercased(String(authority[at...]))
      // `sparse+https` is cargo's.
      let port = scheme == "https" || scheme.hasSuffix("+https") ? ":443" : scheme == "http" ? ":80" : ""
      if !port.isEmpty, host.hasSuffix(port) { host.removeLast(port.count) }
      return authority[..<at] + host
    }

    /// Small letters for the capital ones of ASCII.
    private static func lowercased(_ text: String) -> String {
      String(
        decoding: text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self
      )
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

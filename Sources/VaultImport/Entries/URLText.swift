/// URLs within texts.
enum URLText {
  /// True if a text contains a URL with a password (RFC 3986, section 3.2.1), such as the address of a camera in the
  /// arguments of a program.
  static func hasPassword(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      let after = rest[(colon + 1)...]
      guard after.starts(with: "//".utf8) else {
        rest = after
        continue
      }
      let authority = after.dropFirst(2).prefix { !"/?# \t\r\n\"'".utf8.contains($0) }
      if let at = authority.lastIndex(of: UInt8(ascii: "@")),
        let separator = authority[..<at].firstIndex(of: UInt8(ascii: ":")), separator + 1 < at
      {
        return true
      }
      rest = text[authority.endIndex...]
    }
    return false
  }
}

internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The lines `key=value` that git sends to a credential helper, in memory that wipes itself (git-credential(1),
/// "INPUT/OUTPUT FORMAT").
///
/// Bytes are taken as they are. Unknown keys are ignored; if a key occurs twice, the last line counts.
struct GitAttributes: ~Copyable {
  /// The number of the malformed line, counted from 1, and the reason.
  struct Problem: Error, Equatable {
    let line: Int
    let reason: String
  }

  enum Key: String, CaseIterable {
    case `protocol`, host, path, username, password, authtype, credential, ephemeral, url
    case passwordExpiry = "password_expiry_utc"
    case refreshToken = "oauth_refresh_token"
    case capability = "capability[]"
  }

  /// The bytes of all lines, followed by the decoded parts of URLs.
  private var text: SecretBuffer
  private var places: [Key: Range<Int>] = [:]
  /// True if git accepts credentials other than a password, such as a bearer token.
  private(set) var takesAuthtype = false

  /// Reads all lines up to the end or an empty line.
  init(parsing lines: RawSpan) throws(Problem) {
    text = SecretBuffer(copying: lines)
    let bytes = Span<UInt8>(_bytes: lines)
    var (start, number) = (0, 1)
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != 0x0A { end += 1 }
      if end == start { break }
      try read(bytes, start..<end, number)
      (start, number) = (end + 1, number + 1)
    }
  }

  private mutating func read(_ bytes: Span<UInt8>, _ line: Range<Int>, _ number: Int) throws(Problem) {
    guard let equals = line.first(where: { bytes[$0] == UInt8(ascii: "=") }) else {
      throw Problem(line: number, reason: "has no =")
    }
    guard !line.contains(where: { bytes[$0] == 0 }) else { throw Problem(line: number, reason: "has a NUL in it") }
    let name = line.lowerBound..<equals
    guard let key = Key.allCases.first(where: { bytes.extracting(name).reads($0.rawValue) }) else { return }
    let value = equals + 1..<line.upperBound
    switch key {
    case .capability:
      // An empty capability cancels those before it.
      if value.isEmpty {
        takesAuthtype = false
      } else if bytes.extracting(value).reads("authtype") {
        takesAuthtype = true
      }
    case .url:
      try takeApart(bytes, value, number)
    default: places[key] = value
    }
  }

  /// Returns true if there is a line with that key.
  borrowing func has(_ key: Key) -> Bool { places[key] != nil }

  /// The value of a key that holds no secret, as bytes; nil if there is no such line.
  borrowing func name(_ key: Key) -> [UInt8]? {
    places[key].map { place in
      text.withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return place.map { bytes[$0] }
      }
    }
  }

  /// The value of a key as text; nil also if it is not UTF-8.
  borrowing func string(_ key: Key) -> String? { name(key).flatMap { String(validating: $0, as: UTF8.self) } }

  /// A copy of a secret value; nil if there is no such line.
  borrowing func secret(_ key: Key) -> SecretBuffer? {
    guard let place = places[key] else { return nil }
    return text.withBytes { SecretBuffer(copying: $0.extracting(place)) }
  }

  // MARK: A URL

  /// Splits `protocol://user:password@host/path` into the lines that it stands for, as git does: each part is
  /// percent-decoded, and a missing part cancels an earlier line.
  private mutating func takeApart(_ bytes: Span<UInt8>, _ url: Range<Int>, _ number: Int) throws(Problem) {
    let scheme = url.first { bytes.holds("://", at: $0, before: url.upperBound) }
    guard let scheme, scheme > url.lowerBound else {
      throw Problem(line: number, reason: "has a URL without a protocol")
    }
    let rest = scheme + 3..<url.upperBound
    let slash = rest.first { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(bytes[$0]) }
    let authority = rest.lowerBound..<(slash ?? rest.upperBound)
    places[.protocol] = url.lowerBound..<scheme
    for key in [Key.username, .password, .path] { places[key] = nil }
    let at = authority.first { bytes[$0] == UInt8(ascii: "@") }
    if let at {
      let user = authority.lowerBound..<at
      let colon = user.first { bytes[$0] == UInt8(ascii: ":") }
      places[.username] = decoded(bytes, user.lowerBound..<(colon ?? at))
      places[.password] = colon.map { decoded(bytes, $0 + 1..<at) }
    }
    places[.host] = decoded(bytes, (at.map { $0 + 1 } ?? authority.lowerBound)..<authority.upperBound)
    var path = authority.upperBound..<rest.upperBound
    while let first = path.first, bytes[first] == UInt8(ascii: "/") { path = first + 1..<path.upperBound }
    while let last = path.last, bytes[last] == UInt8(ascii: "/") { path = path.lowerBound..<last }
    if !path.isEmpty { places[.path] = decoded(bytes, path) }
    for key in [Key.protocol, .username, .password, .host, .path] {
      guard let place = places[key] else { continue }
      let isLine = text.withBytes { text in
        let text = Span<UInt8>(_bytes: text)
        return place.allSatisfy { text[$0] != 0 && text[$0] != 0x0A }
      }
      guard isLine else { throw Problem(line: number, reason: "has a URL with a line break or a NUL in it") }
    }
  }

  /// Appends the decoded part of a URL to the text.
  ///
  /// - Returns: the place of the decoded bytes.
  private mutating func decoded(_ bytes: Span<UInt8>, _ part: Range<Int>) -> Range<Int> {
    let start = text.count
    var index = part.lowerBound
    while index < part.upperBound {
      let isEscape = bytes[index] == UInt8(ascii: "%") && index + 2 < part.upperBound
      if isEscape, let high = hexDigit(bytes[index + 1]), let low = hexDigit(bytes[index + 2]) {
        text.append(high << 4 | low)
        index += 3
      } else {
        text.append(bytes[index])
        index += 1
      }
    }
    return start..<text.count
  }
}

extension Span<UInt8> {
  /// Returns true if these are the bytes of `text`.
  fileprivate func reads(_ text: String) -> Bool {
    let other = text.utf8.span
    return count == other.count && indices.allSatisfy { self[$0] == other[$0] }
  }

  /// Returns true if `text` stands at `offset` and ends at `end` or before.
  fileprivate func holds(_ text: String, at offset: Int, before end: Int) -> Bool {
    let other = text.utf8.span
    return other.count <= end - offset && other.indices.allSatisfy { self[offset + $0] == other[$0] }
  }
}

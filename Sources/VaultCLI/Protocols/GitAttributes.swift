internal import VaultModel
internal import VaultWire

/// What git says to a credential helper: lines `key=value`, in memory that wipes itself (git-credential(1), "INPUT/OUTPUT
/// FORMAT").
///
/// Bytes are taken as they are. Keys that are not known here are left out; of one that is there twice the last counts.
struct GitAttributes: ~Copyable {
  /// The line that is none, counted from 1.
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

  /// What is in the lines, and behind that what a URL was taken apart into.
  private var text: SecretBuffer
  private var places: [Key: Range<Int>] = [:]
  /// True when git takes credentials that are not a password, such as a bearer token.
  private(set) var takesAuthtype = false

  /// Reads all lines; an empty one would end them.
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
      // An empty one takes back those before it.
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

  /// True when there is such a line.
  borrowing func has(_ key: Key) -> Bool { places[key] != nil }

  /// The bytes behind a key that holds no secret; nil when there is no such line.
  borrowing func name(_ key: Key) -> [UInt8]? {
    places[key].map { place in
      text.withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return place.map { bytes[$0] }
      }
    }
  }

  /// The same as text; nil also where it is no UTF-8.
  borrowing func string(_ key: Key) -> String? { name(key).flatMap { String(validating: $0, as: UTF8.self) } }

  /// A copy of a secret; nil when there is no such line.
  borrowing func secret(_ key: Key) -> SecretBuffer? {
    guard let place = places[key] else { return nil }
    return text.withBytes { SecretBuffer(copying: $0.extracting(place)) }
  }

  // MARK: A URL

  /// Takes `protocol://user:password@host/path` for the lines that it stands for, as git does: each part percent-decoded,
  /// those that are missing taken back.
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

  /// Appends what a part of a URL means, and answers its place.
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
  /// True when these are the bytes of `text`.
  fileprivate func reads(_ text: String) -> Bool {
    let other = text.utf8.span
    return count == other.count && indices.allSatisfy { self[$0] == other[$0] }
  }

  /// True when `text` stands at `offset`, and ends before `end`.
  fileprivate func holds(_ text: String, at offset: Int, before end: Int) -> Bool {
    let other = text.utf8.span
    return other.count <= end - offset && other.indices.allSatisfy { self[offset + $0] == other[$0] }
  }
}

internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultSigning

/// The hosts of a line in a known_hosts file: names and patterns separated by commas, or one hashed name.
enum HostList {
  /// Names and patterns in lower case; a pattern after `!` excludes.
  case listed([(pattern: [UInt8], isExcluding: Bool)], plainNames: [[UInt8]])
  /// The salt, and the base64 of the HMAC-SHA-1 of the name under the salt (`|1|salt|hash`).
  case hashed(salt: [UInt8], hash: String)
  /// A hash in any other form.
  case unreadable

  init(_ text: RawSpan, _ range: Range<Int>) {
    // Bytes have no padding: all are initialized.
    let bytes = text.extracting(range).array
    if bytes.first == UInt8(ascii: "|") {
      self = Self.readHashed(bytes)
      return
    }
    let parts = bytes.split(separator: UInt8(ascii: ","))
    self = .listed(
      parts.map { part in
        let isExcluding = part.first == UInt8(ascii: "!")
        return (Self.lowercased(part.dropFirst(isExcluding ? 1 : 0)), isExcluding)
      },
      plainNames: parts.filter(Self.isPlain).map(Array.init))
  }

  /// True for a name, and false for a pattern.
  static func isPlain(_ part: some Sequence<UInt8>) -> Bool { !part.contains { "!*?".utf8.contains($0) } }

  private static func readHashed(_ bytes: [UInt8]) -> HostList {
    let fields = bytes.dropFirst().split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].elementsEqual("1".utf8),
      let salt = [UInt8](base64: String(decoding: fields[1], as: UTF8.self)), salt.count == 20,
      let hash = [UInt8](base64: String(decoding: fields[2], as: UTF8.self)), hash.count == 20
    else { return .unreadable }
    return .hashed(salt: salt, hash: hash.base64)
  }

  /// The names that can be read, as they are written.
  var plainNames: [[UInt8]] {
    guard case .listed(_, let names) = self else { return [] }
    return names
  }

  /// True if the line means a host of this name. As in ssh, case does not matter, and an exclusion
  /// counts wherever it stands.
  func includes(_ name: [UInt8]) -> Bool {
    let name = Self.lowercased(name)
    switch self {
    case .listed(let patterns, _):
      let fitting = patterns.filter { Wildcard.matches(name, pattern: $0.pattern) }
      return !fitting.isEmpty && !fitting.contains(where: \.isExcluding)
    case .hashed(let salt, let hash):
      // If the library refuses the short key, as in FIPS mode, the host is not recognized under this name.
      let code = try? HMAC.withCode(
        of: unsafe name.span.bytes, key: unsafe SecureBytes(copying: salt.span.bytes), .sha1
      ) { $0.array }
      return code?.base64 == hash
    case .unreadable: return false
    }
  }

  static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}

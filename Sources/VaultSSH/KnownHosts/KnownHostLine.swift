internal import VaultBytes

/// The fields of one line in a known_hosts file, as places in the file.
struct KnownHostLine {
  /// The statement of a line about its key.
  enum Marker { case revoked, authority }

  let marker: Marker?
  /// The names of the hosts, hashed or not.
  let hosts: Range<Int>
  private let type: Range<Int>
  private let key: Range<Int>

  /// Reads the line at `range`. Nil for an empty line, for a comment, and for a line that ssh would not read either.
  init?(_ text: RawSpan, _ range: Range<Int>) {
    var rest = range
    guard var field = Self.nextField(text, &rest), text.byte(field.lowerBound) != UInt8(ascii: "#") else { return nil }
    if text.byte(field.lowerBound) == UInt8(ascii: "@") {
      if Self.equal(text, field, Array("@revoked".utf8)) {
        marker = .revoked
      } else if Self.equal(text, field, Array("@cert-authority".utf8)) {
        marker = .authority
      } else {
        return nil
      }
      guard let next = Self.nextField(text, &rest) else { return nil }
      field = next
    } else {
      marker = nil
    }
    hosts = field
    guard let type = Self.nextField(text, &rest), let key = Self.nextField(text, &rest) else { return nil }
    (self.type, self.key) = (type, key)
  }

  /// True if the line's key has this type and this base64.
  func isAbout(_ type: [UInt8], _ key: [UInt8], in text: RawSpan) -> Bool {
    Self.equal(text, self.key, key) && Self.equal(text, self.type, type)
  }

  private static func equal(_ text: RawSpan, _ range: Range<Int>, _ bytes: [UInt8]) -> Bool {
    range.count == bytes.count && bytes.indices.allSatisfy { text.byte(range.lowerBound + $0) == bytes[$0] }
  }

  /// Takes the next field from `rest`. A field contains no blank, and a carriage return counts as a blank.
  private static func nextField(_ text: RawSpan, _ rest: inout Range<Int>) -> Range<Int>? {
    func isBlank(_ place: Int) -> Bool { [0x20, 0x09, 0x0D].contains(text.byte(place)) }
    guard let start = rest.first(where: { !isBlank($0) }) else { return nil }
    let end = rest[start...].first(where: isBlank) ?? rest.upperBound
    rest = end..<rest.upperBound
    return start..<end
  }
}

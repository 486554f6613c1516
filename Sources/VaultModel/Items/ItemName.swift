/// The name of an item: a path such as `iothome/express.key`.
///
/// A name is 1 to 512 bytes of UTF-8 in up to 32 segments separated by `/`. No segment is empty, `.` or `..`, and there
/// is no control character (U+0000–U+001F, U+007F–U+009F) anywhere, so that a name can be shown on a terminal, written
/// into a log line and used as a relative path unchanged.
///
/// Names are equal if their bytes are equal: there is no Unicode normalization, as for file names on Linux.
public struct ItemName: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The longest name, in bytes.
  public static let maximumBytes = 512
  /// The highest number of segments. The store has a record for each folder of an item, through which
  /// the item is found.
  public static let maximumSegments = 32

  /// The name as given.
  public let text: String

  /// Takes `text` as a name.
  ///
  /// - Throws: ``NameError`` with the first rule that `text` breaks.
  public init(_ text: String) throws(NameError) {
    // Made contiguous, because every walk over the bytes of a bridged or foreign string would be slow.
    var text = text
    text.makeContiguousUTF8()
    if let reason = Self.fault(in: text) { throw NameError(reason: reason) }
    self.text = text
  }

  /// The folders that contain the item, outermost first: `a/b/c` is in `a` and `a/b`.
  public var folders: [String] {
    let bytes = text.utf8
    return bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }.map { String(text[..<$0]) }
  }

  /// True if the item is in `folder`, or in a folder within it.
  public func isWithin(_ folder: String) -> Bool {
    let (mine, other) = (text.utf8, folder.utf8)
    guard mine.count > other.count, mine.starts(with: other) else { return false }
    return mine[mine.index(mine.startIndex, offsetBy: other.count)] == UInt8(ascii: "/")
  }

  /// The number of folders that contain the item.
  public var depth: Int { Self.slashes(in: text) }

  public var description: String { text }

  public static func == (left: Self, right: Self) -> Bool {
    let (left, right) = (left.text.utf8.span, right.text.utf8.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }

  /// Orders names by their bytes.
  public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }

  /// True if the text is a name of printable ASCII in which no segment begins with a dot. Almost every name is, and one
  /// look at each byte suffices to tell. Any other text may still be a name.
  private static func isPlain(_ text: String) -> Bool {
    let bytes = text.utf8.span
    guard bytes.count <= maximumBytes else { return false }
    var atSegmentStart = true
    var segments = 1
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte >= 0x20, byte < 0x7F else { return false }
      let isSlash = byte == UInt8(ascii: "/")
      if atSegmentStart && (isSlash || byte == UInt8(ascii: ".")) { return false }
      atSegmentStart = isSlash
      if isSlash { segments += 1 }
    }
    return !atSegmentStart && segments <= maximumSegments
  }

  private static func slashes(in text: String) -> Int {
    text.utf8.reduce(0) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 }
  }

  private static func fault(in text: String) -> String? {
    if isPlain(text) { return nil }
    let count = text.utf8.count
    if count == 0 { return "the name is empty" }
    if count > maximumBytes { return "the name has \(count) bytes, more than \(maximumBytes)" }
    if text.unicodeScalars.contains(where: \.isControl) { return "the name has a control character in it" }
    if text.utf8.first == UInt8(ascii: "/") { return "the name starts with '/'" }
    if text.utf8.last == UInt8(ascii: "/") { return "the name ends with '/'" }
    if slashes(in: text) >= maximumSegments { return "the name has more than \(maximumSegments) parts" }
    for segment in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      if segment.isEmpty { return "the name has an empty part ('//')" }
      if segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) {
        return "the name has a part that is '.' or '..'"
      }
    }
    return nil
  }
}

extension Hasher {
  /// Adds the bytes of a text. The hash of the `String` itself would be the same for all texts that Swift considers
  /// equal, and any number of texts with different bytes can be equal.
  mutating func combine(bytesOf text: String) {
    let bytes = text.utf8.span
    // The bytes are lent for the call.
    unsafe bytes.withUnsafeBytes { unsafe combine(bytes: $0) }
    combine(bytes.count)
  }
}

/// A text that cannot be an item's name.
public struct NameError: Error, Hashable, Sendable {
  /// The rule that the text breaks, for a person to read; it does not quote the text.
  public let reason: String
}

extension Unicode.Scalar {
  /// True for C0, DEL and C1: characters on which a terminal might act.
  var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

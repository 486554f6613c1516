/// The items that a grant is for, including items that do not exist yet: a name in which `*` stands for any characters
/// within a part, `**` for any characters at all, and `?` for one character other than `/`.
///
/// Two patterns are equal if their texts are equal byte by byte.
public struct ItemPattern: Hashable, Sendable, CustomStringConvertible {
  /// The pattern as given.
  public let text: String
  /// The folder that contains every match, as far as the pattern names it; nil if matches need not be in a folder.
  public let folder: String?
  /// True if the pattern has no `*` and no `?`, and so matches only the item of that very name.
  public let isExact: Bool
  private let glob: Glob

  /// Takes `text` as a pattern.
  ///
  /// - Throws: ``NameError`` with the first rule of names that `text` breaks, because no name could match it.
  public init(_ text: String) throws(NameError) {
    // The rules of names concern parts, slashes and control characters; to them, wildcards are ordinary characters.
    self.text = try ItemName(text).text
    isExact = !text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    glob = Glob(text)
    folder = glob.folder
  }

  /// True if the pattern matches the item of that name.
  public func matches(_ name: ItemName) -> Bool {
    isExact ? name.text.utf8.elementsEqual(text.utf8) : glob.matches(name.text)
  }

  /// The most steps that comparisons take for names of so many bytes in total: one for each byte of the names and each
  /// 64 characters of the pattern, and fewer if the pattern has no wildcard but stars at its end.
  public func steps(for bytes: Int) -> Int { glob.mostSteps(for: bytes) }

  /// True if there may be an item that both patterns match.
  public func overlaps(_ other: ItemPattern) -> Bool { glob.overlaps(other.glob) }

  /// True if an item in `folder`, or in a folder within it, may match, so that a walk through
  /// folders must enter `folder`.
  public func mayMatch(within folder: String) -> Bool {
    guard let own = self.folder else { return true }
    let (mine, other) = (own.utf8, folder.utf8)
    if mine.elementsEqual(other) { return true }
    let (short, long) = mine.count < other.count ? (mine, other) : (other, mine)
    guard long.starts(with: short), short.count < long.count else { return false }
    return long[long.index(long.startIndex, offsetBy: short.count)] == UInt8(ascii: "/")
  }

  public var description: String { text }

  public static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: text) }
}

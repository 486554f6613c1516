/// A pattern over text with `/`-separated parts: `*` stands for any characters within a part, `**` for any characters
/// at all, `?` for one character other than `/`. All other characters stand for themselves.
///
/// A character is a Unicode scalar. The match follows all ways through the pattern at once, one bit for each (the
/// bit-parallel simulation of Baeza-Yates and Gonnet, "A New Approach to Text Searching", CACM 35(10), 1992), so its
/// time is linear in the length of the text for any pattern: for each character, at most one step per
/// ``GlobStates/wordBits`` characters of the pattern, whose length is limited (``maximumBytes``).
package struct Glob: Hashable, Sendable {
  /// The longest pattern in bytes: without stars, a longer pattern could match no text.
  static let maximumBytes = Attributes.maximumValueBytes

  enum Token: Hashable {
    case literal(Unicode.Scalar)
    case one
  }

  /// The kind of star between two characters of the pattern, or at either end.
  enum Star: Hashable {
    case none, withinPart, across
  }

  let tokens: [Token]
  /// The stars: one before each token, and one at the end.
  let stars: [Star]
  /// The states of the pattern; nil if ``beginning`` is sufficient.
  private let machine: GlobStates?
  /// The text before a star at the end, if the pattern has no other wildcard. Most patterns are like this,
  /// and need no ``machine``.
  private let beginning: String?

  /// Reads a pattern. Every text is a valid pattern.
  package init(_ pattern: String) {
    var tokens: [Token] = []
    var stars: [Star] = [.none]
    for scalar in pattern.unicodeScalars {
      guard scalar == "*" else {
        tokens.append(scalar == "?" ? .one : .literal(scalar))
        stars.append(.none)
        continue
      }
      stars[tokens.count] = stars[tokens.count] == .none ? .withinPart : .across
    }
    self.tokens = tokens
    self.stars = stars
    let isPlain = !tokens.contains(.one) && stars.dropLast().allSatisfy { $0 == .none }
    beginning = isPlain ? String(pattern.unicodeScalars.prefix(tokens.count)) : nil
    guard !isPlain else {
      machine = nil
      return
    }
    let literals = Set(pattern.unicodeScalars).subtracting(["*", "?"])
    var machine = GlobStates(characters: tokens.count, literals: literals)
    for (index, token) in tokens.enumerated() {
      switch token {
      case .literal(let scalar): machine.step(to: index + 1, over: scalar)
      case .one: machine.stepWithinPart(to: index + 1)
      }
    }
    for (index, star) in stars.enumerated() where star != .none { machine.stay(at: index, across: star == .across) }
    self.machine = machine
  }

  /// A pattern that finds `word`, which may itself be a pattern, anywhere in a text.
  init(containing word: String) { self.init("**\(word)**") }

  /// The folder that contains all matches: the text before the last `/` of the literal beginning of the pattern. `nil`
  /// if matches need not be in a folder.
  var folder: String? {
    var prefix = String.UnicodeScalarView()
    for (token, star) in zip(tokens, stars) {
      guard star == .none, case .literal(let scalar) = token else { break }
      prefix.append(scalar)
    }
    guard let slash = prefix.lastIndex(of: "/") else { return nil }
    return String(prefix[..<slash])
  }

  /// The only text that matches; nil if the pattern has a star or a question mark.
  package var literal: String? { stars[tokens.count] == .none ? beginning : nil }

  /// True if the whole of `text` matches.
  package func matches(_ text: String) -> Bool {
    guard let beginning else { return machine?.run(text).fits ?? false }
    let (bytes, first) = (text.utf8, beginning.utf8)
    // No scalar's UTF-8 is the beginning of another's, so a comparison of bytes is sufficient.
    guard bytes.starts(with: first) else { return false }
    return switch stars[tokens.count] {
    case .none: bytes.count == first.count
    case .withinPart: !bytes.dropFirst(first.count).contains(UInt8(ascii: "/"))
    case .across: true
    }
  }

  /// The most steps that comparisons with the pattern take for texts of so many bytes in total. If comparing bytes
  /// suffices, each byte takes a quarter of a step.
  func mostSteps(for bytes: Int) -> Int { machine.map { $0.width * bytes } ?? bytes / 4 }

  /// The number of steps that a comparison of `text` with the pattern takes.
  func steps(for text: String) -> Int { machine?.run(text).steps ?? 0 }
}

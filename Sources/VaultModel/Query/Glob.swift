/// A pattern over text with `/`-separated parts: `*` stands for any characters within a part, `**` for any characters at
/// all, `?` for one character other than `/`. Everything else stands for itself.
///
/// A character is a Unicode scalar. Matching follows all ways through the pattern at once, a bit for each (the bit-parallel
/// simulation of Baeza-Yates and Gonnet, "A New Approach to Text Searching", CACM 35(10), 1992), so its time is linear in
/// the text whatever the pattern: for each character at most one step per ``GlobStates/wordBits`` characters of the
/// pattern, and those are limited (``maximumBytes``).
package struct Glob: Hashable, Sendable {
  /// The longest pattern, in bytes: no text is longer that could fit one without stars.
  static let maximumBytes = Attributes.maximumValueBytes

  private enum Token: Hashable {
    case literal(Unicode.Scalar)
    case one
  }

  /// The text that a star between two characters of the pattern, or at either end, stands for.
  private enum Star: Hashable {
    case none, withinPart, across
  }

  private let tokens: [Token]
  private let stars: [Star]
  /// Nil where ``beginning`` tells all.
  private let machine: GlobStates?
  /// All that is before the star at the end, where a pattern has that one at most, as most do: it needs no machine.
  private let beginning: String?

  /// Reads a pattern; every text is one.
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

  /// A pattern that finds `word`, itself a pattern, anywhere.
  init(containing word: String) { self.init("**\(word)**") }

  /// The beginning of every match up to its last `/`, without it: the folder all matches are in. `nil` when they
  /// need not be in one.
  var folder: String? {
    var prefix = String.UnicodeScalarView()
    for (token, star) in zip(tokens, stars) {
      guard star == .none, case .literal(let scalar) = token else { break }
      prefix.append(scalar)
    }
    guard let slash = prefix.lastIndex(of: "/") else { return nil }
    return String(prefix[..<slash])
  }

  /// The only text that fits; nil where the pattern has a star or a question mark.
  package var literal: String? { stars[tokens.count] == .none ? beginning : nil }

  /// True when the whole of `text` fits.
  package func matches(_ text: String) -> Bool {
    guard let beginning else { return machine?.run(text).fits ?? false }
    let (bytes, first) = (text.utf8, beginning.utf8)
    // No scalar's UTF-8 is the beginning of another's.
    guard bytes.starts(with: first) else { return false }
    return switch stars[tokens.count] {
    case .none: bytes.count == first.count
    case .withinPart: !bytes.dropFirst(first.count).contains(UInt8(ascii: "/"))
    case .across: true
    }
  }

  /// The number of steps it takes to hold `text` against the pattern.
  func steps(for text: String) -> Int { machine?.run(text).steps ?? 0 }
}

/// A pattern over text with `/`-separated parts: `*` stands for any characters within a part, `**` for any characters at
/// all, `?` for one character other than `/`. Everything else stands for itself.
///
/// A character is a Unicode scalar. Matching takes time proportional to the pattern's times the text's length at most,
/// whatever the pattern.
struct Glob: Hashable, Sendable {
  enum Token: Hashable {
    case literal(Unicode.Scalar)
    case one
    case withinPart
    case across
  }

  private var tokens: [Token] = []

  /// Reads a pattern; every text is one.
  init(_ pattern: String) {
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "*":
        switch tokens.last {
        case .across: break
        case .withinPart: tokens[tokens.count - 1] = .across
        default: tokens.append(.withinPart)
        }
      case "?": tokens.append(.one)
      default: tokens.append(.literal(scalar))
      }
    }
  }

  /// A pattern that finds `word`, itself a pattern, anywhere.
  init(containing word: String) { self.init("**\(word)**") }

  /// What every match starts with up to its last `/`, without it: the folder all matches are in. `nil` when they
  /// need not be in one.
  var folder: String? {
    var prefix = String.UnicodeScalarView()
    for case .literal(let scalar) in tokens.prefix(while: { $0.isLiteral }) { prefix.append(scalar) }
    guard let slash = prefix.lastIndex(of: "/") else { return nil }
    return String(prefix[..<slash])
  }

  /// Whether the whole of `text` fits.
  func matches(_ text: String) -> Bool {
    // Walks all ways of matching at once: `reached[n]` says that the first n tokens can match what was read so far.
    var reached = [Bool](repeating: false, count: tokens.count + 1)
    reached[0] = true
    passStars(&reached)
    for scalar in text.unicodeScalars {
      var isAlive = false
      // Downwards, so that each entry is still the old one when the entry above reads it.
      for end in stride(from: tokens.count, through: 0, by: -1) {
        let stays = end < tokens.count && reached[end] && tokens[end].absorbs(scalar)
        let arrives = end > 0 && reached[end - 1] && tokens[end - 1].isMatch(for: scalar)
        reached[end] = stays || arrives
        if reached[end] { isAlive = true }
      }
      guard isAlive else { return false }
      passStars(&reached)
    }
    return reached[tokens.count]
  }

  /// A star may also stand for nothing.
  private func passStars(_ reached: inout [Bool]) {
    for index in tokens.indices where reached[index] && tokens[index].isStar { reached[index + 1] = true }
  }
}

extension Glob.Token {
  fileprivate var isLiteral: Bool { if case .literal = self { true } else { false } }

  fileprivate var isStar: Bool { self == .withinPart || self == .across }

  /// Whether a star goes on over `scalar`.
  fileprivate func absorbs(_ scalar: Unicode.Scalar) -> Bool {
    self == .across || (self == .withinPart && scalar != "/")
  }

  /// Whether the token stands for exactly `scalar`.
  fileprivate func isMatch(for scalar: Unicode.Scalar) -> Bool {
    switch self {
    case .literal(let own): own == scalar
    case .one: scalar != "/"
    case .withinPart, .across: false
    }
  }
}

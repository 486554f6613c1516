/// The states of a pattern, one bit each: state n means that the first n characters of the pattern can stand for the
/// text read so far.
struct GlobStates: Hashable, Sendable {
  /// The number of states that one step follows.
  static let wordBits = UInt64.bitWidth

  private let last: Int
  /// The number of words that hold the states; each takes one step for each character of a text.
  let width: Int
  /// The states to which each character of the pattern leads, `width` words for each: first the states for a character
  /// that is not in the pattern, then those for `/`, then those for the characters in the order of ``scalars``.
  private var arriving: [UInt64]
  /// The characters that stand for themselves in the pattern, sorted, without `/`.
  private let scalars: [Unicode.Scalar]
  /// The states that stay if a character other than `/` follows; the next property holds those that stay if `/`
  /// follows.
  private var staying: [UInt64]
  private var stayingAcross: [UInt64]

  private static let other = 0
  private static let slash = 1

  /// Makes the states for a pattern of `characters` characters, including `literals`, without any transition yet.
  init(characters: Int, literals: Set<Unicode.Scalar>) {
    last = characters
    width = characters / Self.wordBits + 1
    scalars = literals.subtracting(["/"]).sorted()
    arriving = Array(repeating: 0, count: (scalars.count + 2) * width)
    staying = Array(repeating: 0, count: width)
    stayingAcross = staying
  }

  /// Makes `scalar`, one of the literals, lead to `state` from the state before it.
  mutating func step(to state: Int, over scalar: Unicode.Scalar) { set(state, in: row(of: scalar)) }

  /// Makes every character but `/` lead to `state` from the state before it.
  mutating func stepWithinPart(to state: Int) {
    set(state, in: Self.other)
    for place in scalars.indices { set(state, in: place + 2) }
  }

  /// Makes every character but `/` keep `state` or, if `across`, every character.
  mutating func stay(at state: Int, across: Bool) {
    let (word, bit) = Self.split(state)
    staying[word] |= bit
    if across { stayingAcross[word] |= bit }
  }

  /// Tells whether `text` leads from the first state to the last, and how many steps of one word the answer took.
  func run(_ text: String) -> (fits: Bool, steps: Int) {
    var states = [UInt64](repeating: 0, count: width)
    states[0] = 1
    var steps = 0
    for scalar in text.unicodeScalars {
      let row = row(of: scalar) * width
      let isSlash = scalar == "/"
      var carry: UInt64 = 0
      var isAlive: UInt64 = 0
      for word in 0..<width {
        let before = states[word]
        let moved = (before << 1 | carry) & arriving[row + word]
        carry = before >> 63
        states[word] = moved | before & (isSlash ? stayingAcross[word] : staying[word])
        isAlive |= states[word]
      }
      steps += width
      guard isAlive != 0 else { return (false, steps) }
    }
    let (word, bit) = Self.split(last)
    return (states[word] & bit != 0, steps)
  }

  private func row(of scalar: Unicode.Scalar) -> Int {
    if scalar == "/" { return Self.slash }
    var (low, high) = (0, scalars.count)
    while low < high {
      let middle = (low + high) / 2
      if scalars[middle] < scalar { low = middle + 1 } else { high = middle }
    }
    return low < scalars.count && scalars[low] == scalar ? low + 2 : Self.other
  }

  private mutating func set(_ state: Int, in row: Int) {
    let (word, bit) = Self.split(state)
    arriving[row * width + word] |= bit
  }

  private static func split(_ state: Int) -> (word: Int, bit: UInt64) {
    (state / wordBits, 1 << UInt64(state % wordBits))
  }
}

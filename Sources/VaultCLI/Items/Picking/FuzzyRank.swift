/// Ranks names by how well they match typed text: the typed characters must occur in a name in their order, with
/// anything between them.
///
/// A name ranks higher if more of the characters are adjacent or begin a word, and if less stands between them. The
/// bonuses and the search for the best places follow fzy: https://github.com/jhawthorn/fzy/blob/master/ALGORITHM.md
struct FuzzyRank {
  private struct Name {
    let text: String
    /// The characters in lower case.
    let scalars: [Unicode.Scalar]
    /// The bonus of a match at each character, for its place in the name.
    let bonuses: [Int]
  }

  private static let consecutive = 1000
  private static let gap = -10
  private static let outerGap = -5
  private static let none = Int.min / 2
  /// The number of names after which the search checks whether to stop.
  private static let step = 64

  private let names: [Name]

  init(_ names: [String]) { self.names = names.map(Self.name) }

  var count: Int { names.count }

  /// Returns the names that match every typed word, the best first; all names if nothing is typed.
  ///
  /// - Parameter isStopped: called once every few names, because long names take time. Once it returns true, the result
  ///   is nil.
  func matches(_ typed: String, unless isStopped: () -> Bool) -> [String]? {
    let words = typed.lowercased().split(separator: " ").map { Array($0.unicodeScalars) }
    if words.isEmpty { return names.map(\.text) }
    var found: [(score: Int, length: Int, place: Int)] = []
    for (place, name) in names.enumerated() {
      if place % Self.step == 0, isStopped() { return nil }
      guard words.allSatisfy({ Self.fits($0, name.scalars) }) else { continue }
      found.append((words.reduce(0) { $0 + Self.score($1, name) }, name.scalars.count, place))
    }
    found.sort { (-$0.score, $0.length, $0.place) < (-$1.score, $1.length, $1.place) }
    return found.map { names[$0.place].text }
  }

  private static func name(_ text: String) -> Name {
    var bonuses: [Int] = []
    var scalars: [Unicode.Scalar] = []
    var last: Unicode.Scalar = "/"
    for scalar in text.unicodeScalars {
      let bonus =
        switch last {
        case "/": 900
        case "-", "_", " ", "@", ":": 800
        case ".": 600
        default: last.properties.isLowercase && scalar.properties.isUppercase ? 700 : 0
        }
      last = scalar
      for (index, small) in scalar.properties.lowercaseMapping.unicodeScalars.enumerated() {
        scalars.append(small)
        bonuses.append(index == 0 ? bonus : 0)
      }
    }
    return Name(text: text, scalars: scalars, bonuses: bonuses)
  }

  private static func fits(_ word: [Unicode.Scalar], _ name: [Unicode.Scalar]) -> Bool {
    var next = 0
    for scalar in name where next < word.count && scalar == word[next] { next += 1 }
    return next == word.count
  }

  /// Returns the score of the best places.
  private static func score(_ word: [Unicode.Scalar], _ name: Name) -> Int {
    // For each place: the best score with the last character matched there, and the best score with it matched there or
    // before.
    var ends = [Int](repeating: none, count: name.scalars.count)
    var bests = ends
    for (index, character) in word.enumerated() {
      let isLast = index == word.count - 1
      var best = none
      var (endBefore, bestBefore) = (none, none)
      for place in name.scalars.indices {
        var score = none
        if name.scalars[place] == character {
          if index == 0 {
            score = place * outerGap + name.bonuses[place]
          } else if place > 0 {
            score = max(bestBefore + name.bonuses[place], endBefore + consecutive)
          }
        }
        (endBefore, bestBefore) = (ends[place], bests[place])
        best = max(score, best + (isLast ? outerGap : gap))
        (ends[place], bests[place]) = (max(score, none), max(best, none))
      }
    }
    return bests.last ?? none
  }
}

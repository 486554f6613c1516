extension Glob {
  /// True if some text matches both patterns.
  ///
  /// The search follows all pairs of places in the two patterns that one text can reach (the product of two automata),
  /// so its time grows with the product of the patterns' lengths.
  func overlaps(_ other: Glob) -> Bool {
    let width = other.tokens.count + 1
    var isSeen = Array(repeating: false, count: (tokens.count + 1) * width)
    var open = [(0, 0)]
    isSeen[0] = true
    while let (own, others) = open.popLast() {
      if own == tokens.count, others == other.tokens.count { return true }
      for (next, letter) in steps(from: own) {
        for (otherNext, otherLetter) in other.steps(from: others) where letter.overlaps(otherLetter) {
          let place = next * width + otherNext
          if !isSeen[place] {
            isSeen[place] = true
            open.append((next, otherNext))
          }
        }
      }
    }
    return false
  }

  /// The characters that a step through a pattern may consume.
  private enum Letters {
    case one(Unicode.Scalar)
    case withinPart, any

    func overlaps(_ other: Letters) -> Bool {
      switch (self, other) {
      case (.one(let own), .one(let other)): own == other
      case (.one(let scalar), .withinPart), (.withinPart, .one(let scalar)): scalar != "/"
      case (.withinPart, .withinPart), (.any, _), (_, .any): true
      }
    }
  }

  /// The places to which one character leads from a place, with the characters that lead there.
  private func steps(from place: Int) -> [(next: Int, letters: Letters)] {
    var steps: [(next: Int, letters: Letters)] = []
    switch stars[place] {
    case .none: break
    case .withinPart: steps.append((place, .withinPart))
    case .across: steps.append((place, .any))
    }
    guard place < tokens.count else { return steps }
    switch tokens[place] {
    case .literal(let scalar): steps.append((place + 1, .one(scalar)))
    case .one: steps.append((place + 1, .withinPart))
    }
    return steps
  }
}

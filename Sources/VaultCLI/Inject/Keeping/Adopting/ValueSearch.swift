internal import VaultBytes
internal import VaultWire

/// A search for values in another program's text, outside the places where they belong.
///
/// A value of six bytes or more is found however it is quoted, escaped, folded or indented: value and text are compared
/// in squeezed form. In text that the program has inserted, any eight consecutive bytes of a value count as a part of
/// it.
struct ValueSearch: ~Copyable {
  /// The smallest size in bytes of a squeezed value that is found in every spelling; a shorter one would be found by
  /// chance.
  private static let least = 6

  /// The place of a value, and whether all of it is there.
  struct Found: Equatable {
    let place: Int
    let isWhole: Bool
  }

  private let places: SortedPlaces
  private let unescaped: UnescapedText
  private let plain: SqueezedText
  private let undone: SqueezedText
  /// The eight-byte strings that the text has and the rendering did not have.
  private let inserted: GramSet

  /// - Parameters:
  ///   - places: the places in the text where values belong.
  ///   - rendered: the text before the program wrote it.
  ///   - renderedPlaces: the places of the values in `rendered`.
  init(_ text: RawSpan, outside places: [Range<Int>], before rendered: RawSpan, _ renderedPlaces: [Range<Int>]) {
    self.places = SortedPlaces(places)
    unescaped = UnescapedText(text)
    plain = SqueezedText(text, undoingEscapes: false)
    undone = SqueezedText(unescaped)
    let before = SortedPlaces(renderedPlaces)
    var known = GramSet()
    for undoesEscapes in [false, true] {
      SqueezedText(rendered, undoingEscapes: undoesEscapes).forEachGram(outside: before) { gram, _ in
        known.insert(gram)
      }
    }
    var inserted = GramSet()
    plain.forEachGram(outside: self.places) { gram, _ in if !known.contains(gram) { inserted.insert(gram) } }
    undone.forEachGram(outside: self.places) { gram, _ in if !known.contains(gram) { inserted.insert(gram) } }
    self.inserted = inserted
  }

  /// Returns the first place of a value, or of a part of it; nil if there is none.
  ///
  /// - Parameter text: the text for which the search was made.
  func first(_ value: RawSpan, in text: RawSpan) -> Found? {
    var steps = 0
    return first(value, in: text, steps: &steps)
  }

  /// - Parameter steps: a counter, increased by the number of comparisons with places.
  func first(_ value: RawSpan, in text: RawSpan, steps: inout Int) -> Found? {
    if let place = whole(value, in: text, &steps) { return Found(place: place, isWhole: true) }
    return part(of: value).map { Found(place: $0, isWhole: false) }
  }

  private func whole(_ value: RawSpan, in text: RawSpan, _ steps: inout Int) -> Int? {
    var first: Int?
    if SqueezedText(value, undoingEscapes: false).bytes.count < Self.least {
      ValueForms.forEach(of: value) { form in
        if first == nil { first = firstPlace(of: form, in: text, &steps) { $0 } }
        if first == nil {
          first = unescaped.bytes.withBytes { text in
            firstPlace(of: form, in: text, &steps) { unescaped.origin(of: $0) }
          }
        }
      }
      return first
    }
    ValueForms.forEachSqueezed(of: value) { form in
      guard form.byteCount >= Self.least else { return }
      if first == nil { first = firstPlace(of: form, in: plain, &steps) }
      if first == nil { first = firstPlace(of: form, in: undone, &steps) }
    }
    return first
  }

  private func part(of value: RawSpan) -> Int? {
    var found: UInt64?
    ValueForms.forEachTelling(of: value) { part in
      for undoesEscapes in [false, true] where found == nil {
        SqueezedText(part, undoingEscapes: undoesEscapes).bytes.withBytes { part in
          part.forEachGram { gram, _ in if found == nil, inserted.contains(gram) { found = gram } }
        }
      }
    }
    guard let found else { return nil }
    var place: Int?
    plain.forEachGram(outside: places) { gram, at in if place == nil, gram == found { place = at } }
    if place == nil { undone.forEachGram(outside: places) { if place == nil, $0 == found { place = $1 } } }
    return place
  }

  private func firstPlace(of form: RawSpan, in text: borrowing SqueezedText, _ steps: inout Int) -> Int? {
    text.bytes.withBytes { bytes in firstPlace(of: form, in: bytes, &steps) { text.origin(of: $0) } }
  }

  /// - Parameter origin: returns the place in the original text.
  private func firstPlace(
    of form: RawSpan, in text: RawSpan, _ steps: inout Int, _ origin: (Range<Int>) -> Range<Int>
  ) -> Int? {
    var at = 0
    while let start = text.firstPlace(of: form, from: at) {
      let found = origin(start..<start + form.byteCount)
      if !places.hold(found, &steps) { return found.lowerBound }
      at = start + 1
    }
    return nil
  }
}

/// Places in a text that do not overlap, in their order.
struct SortedPlaces {
  private let places: [Range<Int>]

  init(_ places: [Range<Int>]) { self.places = places.sorted { $0.lowerBound < $1.lowerBound } }

  /// Returns true if the bytes lie within one of the places.
  func hold(_ bytes: Range<Int>) -> Bool {
    var steps = 0
    return hold(bytes, &steps)
  }

  /// - Parameter steps: a counter, increased by the number of comparisons with places.
  func hold(_ bytes: Range<Int>, _ steps: inout Int) -> Bool {
    var (low, high) = (0, places.count)
    while low < high {
      steps += 1
      let middle = (low + high) / 2
      if places[middle].lowerBound <= bytes.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low > 0 && bytes.upperBound <= places[low - 1].upperBound
  }
}

extension SqueezedText {
  /// Calls `body` with each eight-byte string that is not within one of `places`, and with its offset in the original
  /// text.
  func forEachGram(outside places: SortedPlaces, _ body: (UInt64, Int) -> Void) {
    bytes.withBytes { bytes in
      bytes.forEachGram { gram, at in
        let origin = origin(of: at..<at + GramSet.length)
        if !places.hold(origin) { body(gram, origin.lowerBound) }
      }
    }
  }
}

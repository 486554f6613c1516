internal import VaultWire

/// A search for values in a text that another program has written, outside of the places where they belong.
///
/// A value of six bytes or more is found however it is quoted, escaped, folded or indented: value and text are compared
/// squeezed. Of what the program has inserted, any eight bytes of a value that follow each other are a part of it.
struct ValueSearch: ~Copyable {
  /// The fewest bytes of a squeezed value that is found in every spelling; a shorter one would be found by chance.
  private static let least = 6

  /// The place of a value, and whether all of it stands there.
  struct Found: Equatable {
    let place: Int
    let isWhole: Bool
  }

  private let places: SortedPlaces
  private let unescaped: UnescapedText
  private let plain: SqueezedText
  private let undone: SqueezedText
  /// The strings of eight bytes that the text has and the rendering had not.
  private let inserted: GramSet

  /// - Parameters:
  ///   - places: where the values belong in the text.
  ///   - rendered: the text before the program wrote it.
  ///   - renderedPlaces: where the values are in that.
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

  /// The first place where a value stands, or a part of it.
  ///
  /// - Parameter text: the one that it was made for.
  func first(_ value: RawSpan, in text: RawSpan) -> Found? {
    if let place = whole(value, in: text) { return Found(place: place, isWhole: true) }
    return part(of: value).map { Found(place: $0, isWhole: false) }
  }

  private func whole(_ value: RawSpan, in text: RawSpan) -> Int? {
    var first: Int?
    if SqueezedText(value, undoingEscapes: false).bytes.count < Self.least {
      ValueForms.forEach(of: value) { form in
        if first == nil { first = firstPlace(of: form, in: text) { $0 } }
        if first == nil {
          first = unescaped.bytes.withBytes { text in firstPlace(of: form, in: text) { unescaped.origin(of: $0) } }
        }
      }
      return first
    }
    ValueForms.forEachSqueezed(of: value) { form in
      guard form.byteCount >= Self.least else { return }
      if first == nil { first = firstPlace(of: form, in: plain) }
      if first == nil { first = firstPlace(of: form, in: undone) }
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

  private func firstPlace(of form: RawSpan, in text: borrowing SqueezedText) -> Int? {
    text.bytes.withBytes { bytes in firstPlace(of: form, in: bytes) { text.origin(of: $0) } }
  }

  /// - Parameter origin: gives the place in the text itself.
  private func firstPlace(of form: RawSpan, in text: RawSpan, _ origin: (Range<Int>) -> Range<Int>) -> Int? {
    var at = 0
    while let start = text.firstPlace(of: form, from: at) {
      let found = origin(start..<start + form.byteCount)
      if !places.hold(found) { return found.lowerBound }
      at = start + 1
    }
    return nil
  }
}

/// Places in a text that do not overlap, in order.
struct SortedPlaces {
  private let places: [Range<Int>]

  init(_ places: [Range<Int>]) { self.places = places.sorted { $0.lowerBound < $1.lowerBound } }

  /// True when some bytes lie within one of them.
  func hold(_ bytes: Range<Int>) -> Bool {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].lowerBound <= bytes.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low > 0 && bytes.upperBound <= places[low - 1].upperBound
  }
}

extension SqueezedText {
  /// Lends all strings of eight bytes that are not within one of `places`, and where each begins in the text.
  func forEachGram(outside places: SortedPlaces, _ body: (UInt64, Int) -> Void) {
    bytes.withBytes { bytes in
      bytes.forEachGram { gram, at in
        let origin = origin(of: at..<at + GramSet.length)
        if !places.hold(origin) { body(gram, origin.lowerBound) }
      }
    }
  }
}

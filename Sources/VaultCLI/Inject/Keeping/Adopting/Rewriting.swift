internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A rendered text as another program has written it back, with the fate of each value.
///
/// Programs that write their whole configuration change its blanks and its order. So the search is for the values
/// themselves, each in the form that the template asks for. A value counts as in its place only if the text before it,
/// such as a key, and the byte after it are the same; see ``Context``.
struct Rewriting {
  enum Fate: Equatable {
    /// The value is in its place, at the given line.
    case stands(Int)
    /// The value is only elsewhere, first at the given line.
    case moved(Int)
    /// Something else is in the value's place, at the given line.
    case replaced(Int)
    case gone
    /// The value has no bytes, and so no place.
    case empty

    /// True if the value is nowhere in the text.
    var isLost: Bool {
      switch self {
      case .replaced, .gone: true
      case .stands, .moved, .empty: false
      }
    }
  }

  /// The most lines that are reported for one value.
  private static let mostLines = 100

  /// The fates of the values, in the order of the template's actions.
  private(set) var fates: [Fate] = []
  /// The lines at which each action's value stands outside its place, at most a hundred.
  private(set) var others: [[Int]] = []
  /// The place of each action's value; nil unless every value is in its place.
  private(set) var places: [Range<Int>]?
  /// The number of comparisons of places with other places, with the texts before values, and with lines.
  private(set) var steps = 0

  /// - Parameter present: the text that the program has written.
  init(of rendering: borrowing Rendering, _ template: borrowing Template, as present: RawSpan) {
    let actions = template.actions
    let old = rendering.places
    var found = [Range<Int>?](repeating: nil, count: actions.count)
    others = Array(repeating: [], count: actions.count)
    let lines = LineIndex(present)
    var spare: [[Int]] = Array(repeating: [], count: actions.count)
    let kinds = Self.kinds(of: actions)
    rendering.bytes.withBytes { rendered in
      let contexts = ContextIndex(rendered, before: old)
      var taken = TakenPlaces()
      var steps = 0
      for group in Self.groups(of: old, in: rendered) {
        let form = old[group[0]]
        if form.isEmpty { continue }
        var awaited = AwaitedValues(group, kinds: kinds, contexts, old, in: rendered)
        var left: [Int] = []
        for place in taken.take(rendered.extracting(form), in: present, &steps) {
          if let value = awaited.take(place, in: present, contexts, &steps) {
            found[value] = place
          } else if left.count < Self.mostLines {
            left.append(lines.line(place.lowerBound, &steps))
          }
        }
        for index in group { spare[index] = left }
      }
      self.steps = steps
      let lost = actions.indices.filter { !old[$0].isEmpty && found[$0] == nil && spare[$0].isEmpty }
      let places = Self.places(of: lost.map { old[$0] }, rendered, in: present)
      let replaced = Dictionary(uniqueKeysWithValues: zip(lost, places))
      for index in actions.indices {
        if old[index].isEmpty {
          fates.append(.empty)
        } else if let place = found[index] {
          fates.append(.stands(lines.line(place.lowerBound)))
          others[index] = spare[index]
        } else if let line = spare[index].first {
          fates.append(.moved(line))
        } else if let place = replaced[index] ?? nil {
          fates.append(.replaced(lines.line(place)))
        } else {
          fates.append(.gone)
        }
      }
    }
    let all = found.compactMap { $0 }
    places = all.count == actions.count ? all : nil
  }

  /// Returns a number for each action, the same for all actions that insert the same text.
  private static func kinds(of actions: [Template.Action]) -> [Int] {
    struct Inserted: Hashable {
      let item: ItemReference
      let escapes: [Escape]
    }
    var known: [Inserted: Int] = [:]
    var kinds: [Int] = []
    for action in actions {
      let next = known.count
      kinds.append(known[Inserted(item: action.item, escapes: action.escapes), default: next])
      known[Inserted(item: action.item, escapes: action.escapes)] = kinds.last
    }
    return kinds
  }

  /// Returns for each value the first place in `text` with the same text before it; nil if there is none.
  private static func places(of values: [Range<Int>], _ rendered: RawSpan, in text: RawSpan) -> [Int?] {
    if values.isEmpty { return [] }
    let contexts = ContextIndex(rendered, before: values)
    let places = contexts.firstPlaces(in: text)
    return contexts.numbers.map { places[$0] }
  }

  /// Groups the actions by their rendered values. Longer values come first, because a shorter one may be part of a
  /// longer one.
  private static func groups(of places: [Range<Int>], in rendered: RawSpan) -> [[Int]] {
    let order = places.indices.sorted { one, other in
      let (left, right) = (places[one], places[other])
      if left.count != right.count { return left.count > right.count }
      let difference = rendered.extracting(left).order(to: rendered.extracting(right))
      return difference == 0 ? one < other : difference < 0
    }
    var groups: [[Int]] = []
    for index in order {
      if let last = groups.last?.first,
        rendered.extracting(places[last]).hasSameBytes(as: rendered.extracting(places[index]))
      {
        groups[groups.count - 1].append(index)
      } else {
        groups.append([index])
      }
    }
    return groups
  }
}

extension RawSpan {
  /// Compares these bytes with as many others; the result is below, at or above zero, as that of memcmp(3).
  fileprivate func order(to other: RawSpan) -> Int32 {
    if byteCount == 0 { return 0 }
    // Both are lent for the call, and hold equally many bytes.
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in unsafe memcmp(mine.baseAddress!, theirs.baseAddress!, mine.count) }
    }
  }
}

/// The places of values that were found. No place found later overlaps them.
struct TakenPlaces {
  /// The places in their order.
  private var places: [Range<Int>] = []

  /// Finds all places of `form` that overlap none of these, and takes them.
  ///
  /// - Parameter steps: a counter, increased by the number of comparisons between places.
  mutating func take(_ form: RawSpan, in text: RawSpan, _ steps: inout Int) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var all: [Range<Int>] = []
    all.reserveCapacity(places.count)
    var (at, next) = (0, 0)
    while let start = text.firstPlace(of: form, from: at) {
      let place = start..<start + form.byteCount
      steps += 1
      while next < places.count, places[next].upperBound <= place.lowerBound {
        steps += 1
        all.append(places[next])
        next += 1
      }
      if next < places.count, places[next].overlaps(place) {
        at = max(start + 1, min(places[next].upperBound, place.upperBound))
      } else {
        found.append(place)
        all.append(place)
        at = place.upperBound
      }
    }
    places = all + places[next...]
    return found
  }
}

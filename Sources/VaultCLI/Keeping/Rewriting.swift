internal import Glibc
internal import VaultModel
internal import VaultWire

/// A rendered text as another program has written it back: what has become of each value in it.
///
/// Programs that write their whole configuration change blanks, and the order of what is in it. So the values themselves are
/// looked for, each in the form that the template asks for, and each counts as standing in its place only with what stood before
/// it, such as a key, and an end where it had one.
struct Rewriting {
  enum Fate: Equatable {
    /// In its place, at that line.
    case stands(Int)
    /// Elsewhere alone.
    case moved(Int)
    /// Something else stands in its place, at that line.
    case replaced(Int)
    case gone
    /// Of no bytes, and so in no place.
    case empty

    /// True when the program has another value, or none.
    var isLost: Bool {
      switch self {
      case .replaced, .gone: true
      case .stands, .moved, .empty: false
      }
    }
  }

  /// The most lines that are told of one value.
  private static let mostLines = 100

  /// By the actions of the template.
  private(set) var fates: [Fate] = []
  /// The lines at which an action's value stands beside its place, the first hundred of them.
  private(set) var others: [[Int]] = []
  /// The place of each action; nil unless each has one.
  private(set) var places: [Range<Int>]?

  /// - Parameter present: what the program has written.
  init(of rendering: borrowing Rendering, _ template: borrowing Template, as present: RawSpan) {
    let actions = template.actions
    let old = rendering.places
    var found = [Range<Int>?](repeating: nil, count: actions.count)
    others = Array(repeating: [], count: actions.count)
    let lines = LineIndex(present)
    var spare: [[Int]] = Array(repeating: [], count: actions.count)
    rendering.bytes.withBytes { rendered in
      var taken = TakenPlaces()
      for group in Self.groups(of: old, in: rendered) {
        let form = old[group[0]]
        if form.isEmpty { continue }
        var free = group
        var left: [Int] = []
        for place in taken.take(rendered.extracting(form), in: present) {
          let fitting = free.filter { Context.isSame(rendered, old[$0], present, place) }
          if let first = fitting.first, fitting.allSatisfy({ actions[$0].isSame(as: actions[first]) }) {
            found[first] = place
            free.removeAll { $0 == first }
          } else if left.count < Self.mostLines {
            left.append(lines.line(place.lowerBound))
          }
        }
        for index in group { spare[index] = left }
      }
      for index in actions.indices {
        if old[index].isEmpty {
          fates.append(.empty)
        } else if let place = found[index] {
          fates.append(.stands(lines.line(place.lowerBound)))
          others[index] = spare[index]
        } else if let line = spare[index].first {
          fates.append(.moved(line))
        } else if let place = Context.find(rendered, old[index], in: present) {
          fates.append(.replaced(lines.line(place)))
        } else {
          fates.append(.gone)
        }
      }
    }
    let all = found.compactMap { $0 }
    places = all.count == actions.count ? all : nil
  }

  /// The actions by what they gave, those that gave the same together; a longer one first, because a shorter one may be part
  /// of it.
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
  /// The order of these bytes and as many others: below, at or above zero, as memcmp(3) says it.
  fileprivate func order(to other: RawSpan) -> Int32 {
    if byteCount == 0 { return 0 }
    // Both are lent for the call, and hold as many bytes.
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { theirs in unsafe memcmp(mine.baseAddress!, theirs.baseAddress!, mine.count) }
    }
  }
}

/// The places of values that were found, which none found later overlaps.
struct TakenPlaces {
  /// In order.
  private var places: [Range<Int>] = []

  /// Finds all places of `form`, and takes them.
  mutating func take(_ form: RawSpan, in text: RawSpan) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var all: [Range<Int>] = []
    all.reserveCapacity(places.count)
    var (at, next) = (0, 0)
    while let start = text.firstPlace(of: form, from: at) {
      let place = start..<start + form.byteCount
      while next < places.count, places[next].upperBound <= place.lowerBound {
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

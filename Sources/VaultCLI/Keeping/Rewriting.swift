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
  }

  /// By the actions of the template.
  private(set) var fates: [Fate] = []
  /// The lines at which an action's value stands beside its place.
  private(set) var others: [[Int]] = []
  /// The place of each action; nil unless each has one.
  private(set) var places: [Range<Int>]?

  /// - Parameter present: what the program has written.
  init(of rendering: borrowing Rendering, _ template: borrowing Template, as present: RawSpan) {
    let actions = template.actions
    let (old, forms) = (rendering.places, actions.indices)
    var found = [Range<Int>?](repeating: nil, count: actions.count)
    others = Array(repeating: [], count: actions.count)
    var spare: [[Int]] = Array(repeating: [], count: actions.count)
    rendering.bytes.withBytes { rendered in
      var taken = TakenPlaces()
      // A longer one first, because a shorter one may be part of it.
      var groups: [[Int]] = []
      for index in forms.sorted(by: { old[$0].count > old[$1].count }) {
        if let last = groups.indices.last(where: { group in
          rendered.extracting(old[groups[group][0]]).hasSameBytes(as: rendered.extracting(old[index]))
        }) {
          groups[last].append(index)
        } else {
          groups.append([index])
        }
      }
      for group in groups {
        let form = old[group[0]]
        if form.isEmpty { continue }
        let occurrences = taken.take(rendered.extracting(form), in: present)
        var free = group
        for place in occurrences {
          let fitting = free.filter { Context.isSame(rendered, old[$0], present, place) }
          if let first = fitting.first, fitting.allSatisfy({ actions[$0].isSame(as: actions[first]) }) {
            found[first] = place
            free.removeAll { $0 == first }
          } else {
            for index in group { spare[index].append(place.lowerBound) }
          }
        }
      }
      for index in forms {
        let lines = spare[index].map { Self.line($0, in: present) }
        if old[index].isEmpty {
          fates.append(.empty)
        } else if let place = found[index] {
          fates.append(.stands(Self.line(place.lowerBound, in: present)))
          others[index] = lines
        } else if let line = lines.first {
          fates.append(.moved(line))
        } else if let place = Context.find(rendered, old[index], in: present) {
          fates.append(.replaced(Self.line(place, in: present)))
        } else {
          fates.append(.gone)
        }
      }
    }
    let all = found.compactMap { $0 }
    places = all.count == actions.count ? all : nil
  }

  static func line(_ place: Int, in text: RawSpan) -> Int {
    let bytes = Span<UInt8>(_bytes: text)
    var line = 1
    for index in 0..<place where bytes[index] == 0x0A { line += 1 }
    return line
  }
}

/// The places of values that were found, which none found later overlaps.
struct TakenPlaces {
  private var places: [Range<Int>] = []

  /// Finds all places of `form`, and takes them.
  mutating func take(_ form: RawSpan, in text: RawSpan) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var at = 0
    while let start = text.firstPlace(of: form, from: at) {
      let place = start..<start + form.byteCount
      if let other = places.first(where: { $0.overlaps(place) }) {
        at = max(start + 1, min(other.upperBound, place.upperBound))
      } else {
        found.append(place)
        at = place.upperBound
      }
    }
    places += found
    return found
  }
}

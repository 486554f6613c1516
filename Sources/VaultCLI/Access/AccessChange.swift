internal import VaultModel
internal import VaultWire

/// The effect of a new or changed item name on the access that grants give.
enum AccessChange {
  /// The rights that each subject gains or loses, one line per subject and direction. A right that other grants give
  /// the subject before and after, such as those of its groups, is neither gained nor lost.
  ///
  /// - Parameters:
  ///   - before: the grants for the old name, by subject.
  ///   - after: the grants for the new name, by subject.
  ///   - all: returns all rights of a subject on the old name and on the new name, whatever gives them, including
  ///     rights that another right implies; nil if they are not known.
  ///   - isNeverRead: true for a key whose value nobody can get, so that `get` gives the use alone.
  static func lines(
    _ before: [Wire.Access], _ after: [Wire.Access], isNeverRead: Bool,
    all: (String) -> (before: [String], after: [String])?
  ) -> [String] {
    func rights(_ all: [Wire.Access]) -> [String: [String]] {
      Dictionary(all.map { ($0.subject, $0.rights) }) { first, _ in first }
    }
    let (old, new) = (rights(before), rights(after))
    return Set(old.keys).union(new.keys).sorted().flatMap { subject -> [String] in
      var (was, is_) = (old[subject] ?? [], new[subject] ?? [])
      if Set(was) != Set(is_), let all = all(subject) { (was, is_) = (all.before, all.after) }
      if isNeverRead { (was, is_) = (uses(was), uses(is_)) }
      let (gained, lost) = (is_.filter { !was.contains($0) }, was.filter { !is_.contains($0) })
      return [line(subject, "gains", gained), line(subject, "loses", lost)].compactMap { $0 }
    }
  }

  private static func uses(_ rights: [String]) -> [String] {
    let others = rights.filter { $0 != Right.get.name && $0 != Right.use.name }
    return others.count == rights.count ? rights : others + [Right.use.name]
  }

  private static func line(_ subject: String, _ verb: String, _ rights: [String]) -> String? {
    rights.isEmpty ? nil : "\(Printable.whole(subject)) \(verb) \(OtherAccess.list(OtherAccess.rights(rights)))"
  }

  /// A note that lists the subjects with rights on a new item; empty if there are none.
  static func note(_ others: [Wire.Access]?) -> String {
    guard let others, !others.isEmpty else { return "" }
    return "; \(openness(others))"
  }

  /// Says to which subjects an item is open, such as "open to user:ana (get) by grants".
  static func openness(_ others: [Wire.Access]) -> String {
    var known: Set<String> = []
    let texts = others.filter { known.insert("\($0.subject) \($0.rights)").inserted }.map {
      "\(Printable.whole($0.subject)) (\($0.rights.map { Printable.text($0) }.joined(separator: ", ")))"
    }
    return "open to \(texts.joined(separator: ", ")) by grants"
  }
}

/// One condition of a query.
enum Predicate: Hashable, Sendable {
  case equals(TextSubject, String, negated: Bool)
  case fits(TextSubject, Glob)
  /// The item's name, or the label that the client of a keyring gave it, matches.
  case mentions(Glob)
  /// The item is in that folder, or in a folder within it.
  case isWithin(String)
  /// The item's name matches the pattern.
  case matches(ItemPattern)
  case time(TimeSubject, isBelow: Bool, TimeBound)
  case never(negated: Bool)
  case author(AuthorSubject, Subject, negated: Bool)
  case number(NumberSubject, NumberRelation, Int)
  /// The item has facts for a keyring's clients, with at least these attributes.
  case keyring(KeyringAttributes)
  /// The item is the one that a keyring's clients know by this number.
  case keyringID(KeyringID)

  /// True if the condition holds for `item` at `now` (Unix seconds).
  func matches(_ item: ItemInfo, now: Int64) -> Bool {
    switch self {
    case .equals(let subject, let value, let negated):
      (subject.text(of: item)?.utf8.elementsEqual(value.utf8) ?? false) != negated
    case .fits(let subject, let glob):
      subject.text(of: item).map(glob.matches) ?? false
    case .mentions(let glob):
      glob.matches(item.name.text) || (item.keyring.map { glob.matches($0.label) } ?? false)
    case .isWithin(let folder):
      item.name.isWithin(folder)
    case .matches(let pattern):
      pattern.matches(item.name)
    case .time(let subject, let isBelow, let bound):
      subject.holds(for: item, isBelow: isBelow, bound, now: now)
    case .never(let negated):
      (item.expires == nil) != negated
    case .author(let subject, let author, let negated):
      (subject.text(of: item).map { author.isPart(of: $0) } ?? false) != negated
    case .number(let subject, let relation, let number):
      relation.holds(subject.number(of: item), number)
    case .keyring(let attributes):
      item.keyring?.attributes.contains(attributes) ?? false
    case .keyringID(let id):
      item.keyring?.id == id
    }
  }

  /// The folder that contains every match, if the predicate implies one.
  var folder: String? {
    switch self {
    case .fits(.name, let glob): glob.folder
    case .isWithin(let folder): folder
    case .matches(let pattern): pattern.isExact ? nil : pattern.folder
    case .equals, .fits, .mentions, .time, .never, .author, .number, .keyring, .keyringID: nil
    }
  }
}

/// The texts that a predicate can examine.
enum TextSubject: Hashable, Sendable {
  case name
  case kind
  case accessible
  case require
  case attribute(String)
  /// The label that the client of a keyring gave the item.
  case keyringLabel
  /// An attribute that the client of a keyring gave the item.
  case keyringAttribute(String)

  /// The subject of a key such as `keyring:label` or, for an attribute, `keyring:server`; nil for a key of another
  /// form. An attribute of the name `label` is `keyring:attr:label`.
  init?(keyringKey text: String) {
    guard text.utf8.starts(with: Query.keyringPrefix.utf8) else { return nil }
    let key = String(text.dropFirst(Query.keyringPrefix.count))
    self = key == "label" ? .keyringLabel : .keyringAttribute(Attributes.key(ofField: key) ?? key)
  }

  /// The text, or `nil` if the item has no such attribute.
  func text(of item: ItemInfo) -> String? {
    switch self {
    case .name: item.name.text
    case .kind: item.kind.rawValue
    case .accessible: item.policy.accessible.name
    case .require: item.policy.require.name
    case .attribute(let key): item.attributes[key]
    case .keyringLabel: item.keyring?.label
    case .keyringAttribute(let key): item.keyring?.attributes[key]
    }
  }

  /// All possible texts, or `nil` if there are too many to list.
  var choices: [String]? {
    switch self {
    case .kind: ItemKind.allCases.map(\.rawValue)
    case .accessible: AccessClass.allCases.map(\.name)
    case .require: Requirement.allCases.map(\.name)
    case .name, .attribute, .keyringLabel, .keyringAttribute: nil
    }
  }
}

/// The callers that a predicate can examine.
enum AuthorSubject: String, Hashable, Sendable {
  case creator
  case writer

  /// The recorded text of the caller; nil if not known.
  func text(of item: ItemInfo) -> String? { self == .creator ? item.creator : item.current.writer }
}

/// The time with which a predicate compares.
enum TimeBound: Hashable, Sendable {
  /// A point in time, Unix seconds.
  case instant(Int64)
  /// A distance from now in seconds: in the future for an expiry, in the past for the other times.
  case distance(Int64)
}

/// The times that a predicate can examine.
enum TimeSubject: String, Hashable, Sendable, CaseIterable {
  case expires
  case created
  case modified

  func holds(for item: ItemInfo, isBelow: Bool, _ bound: TimeBound, now: Int64) -> Bool {
    switch (self, bound) {
    case (.expires, .instant(let instant)):
      item.expires.map { isBelow ? $0 < instant : $0 > instant } ?? false
    case (.expires, .distance(let distance)):
      item.expires.map { isBelow ? $0 < Seconds.after(distance, now) : $0 > Seconds.after(distance, now) } ?? false
    case (_, .instant(let instant)):
      isBelow ? past(of: item) < instant : past(of: item) > instant
    case (_, .distance(let distance)):
      // "Less than a week ago" means later than a week before now.
      isBelow ? past(of: item) > Seconds.after(-distance, now) : past(of: item) < Seconds.after(-distance, now)
    }
  }

  private func past(of item: ItemInfo) -> Int64 { self == .created ? item.created : item.modified }
}

/// The numbers of the current version that a predicate can examine.
enum NumberSubject: String, Hashable, Sendable, CaseIterable {
  case version
  case size

  func number(of item: ItemInfo) -> Int { self == .version ? item.current.number : item.current.size }
}

/// The comparison of two numbers.
enum NumberRelation: Hashable, Sendable {
  case equal
  case unequal
  case below
  case above

  func holds(_ left: Int, _ right: Int) -> Bool {
    switch self {
    case .equal: left == right
    case .unequal: left != right
    case .below: left < right
    case .above: left > right
    }
  }
}

public import VaultModel

/// What is known of the records as a whole.
public enum IntegrityState: Hashable, Sendable {
  /// No check came to its end in which all keys were there. What is not found may have been taken away.
  case unchecked
  /// A check is under way: so many records, and pages of the file, of about so many.
  case checking(done: Int, of: Int)
  /// All records are exactly those that were written last, none more and none less.
  case ok
  /// Somebody or something changed the store; nothing is written to it any more, until it is opened anew.
  case failed
}

/// The result of a check.
public struct Verification: Hashable, Sendable {
  /// What is wrong, in the order in which it was found; at most ``Finding/limit``.
  public internal(set) var findings: [Finding] = []
  /// How many findings there are more, at least: of an item that something is wrong with, not everything is looked for once
  /// there are too many.
  public internal(set) var omitted = 0
  /// How many items nothing is wrong with, of the classes that were checked in full.
  public internal(set) var unharmed = 0
  /// How many items something is wrong with.
  public var harmed: Int { harmedItems.count }
  /// The classes of which not all could be checked, for want of keys.
  public internal(set) var unchecked: [AccessClass] = []
  /// The classes whose records are, taken together, not those that were written last. An item of these of which nothing
  /// else is said has records that open and belong together, and yet could be an older copy.
  public internal(set) var changed: [AccessClass] = []
  /// How many records were looked at.
  public internal(set) var records = 0

  /// Whether everything was checked and nothing is wrong.
  public var isOK: Bool { findings.isEmpty && unchecked.isEmpty }

  /// Whether nothing more is listed.
  var isFull: Bool { findings.count >= Finding.limit }

  private var harmedItems: Set<Int64> = []
  // Those of them that were not asked for yet.
  private var newlyHarmed: [Int64] = []
  // The listed findings, without names.
  private var listed: Set<Finding> = []

  mutating func add(_ finding: Finding) {
    if let item = finding.item, harmedItems.insert(item).inserted { newlyHarmed.append(item) }
    var nameless = finding
    nameless.name = nil
    if listed.contains(nameless) { return }
    guard !isFull else {
      omitted += 1
      return
    }
    listed.insert(nameless)
    findings.append(finding)
  }

  /// The items that were found to be harmed since this was called last.
  mutating func takeNewlyHarmed() -> [Int64] {
    defer { newlyHarmed = [] }
    return newlyHarmed
  }

  /// Drops the names of items, which may not be told any more.
  mutating func forgetNames() {
    for place in findings.indices { findings[place].name = nil }
  }
}

/// One thing that is wrong with the store.
public struct Finding: Hashable, Sendable {
  /// How many are listed at most.
  public static let limit = 1000

  public enum Kind: String, Hashable, Sendable {
    /// A record is not what was written.
    case damaged
    /// A record is not there.
    case missing
    /// A record, or one that belongs with it, is from an earlier time.
    case replayed
    /// A record does not belong where it is.
    case foreign
  }

  public var kind: Kind
  /// The number of the item; nil for what belongs to none.
  public var item: Int64?
  /// The name of the item, where it can be told.
  public var name: ItemName?
  /// What it is, and what is wrong, in words; without names.
  public var text: String

  init(_ kind: Kind, item: Int64? = nil, name: ItemName? = nil, _ text: String) {
    self.kind = kind
    self.item = item
    self.name = name
    self.text = text
  }

  /// The finding that an error is; nil when it says nothing of the store.
  init?(_ error: VaultError) {
    guard case .corrupt(let reason) = error else { return nil }
    self.init(.damaged, reason)
  }

  /// What a later check says that does not find it again. It is about no item, because none is known to be harmed now.
  var asFoundEarlier: Finding {
    Finding(kind, "found since the store was opened, and not by this check: \(text)")
  }
}

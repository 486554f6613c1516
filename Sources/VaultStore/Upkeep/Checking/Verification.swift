public import VaultModel

/// The result of a check.
public struct Verification: Hashable, Sendable {
  /// The findings in the order in which they were made, at most ``Finding/limit`` of them.
  public internal(set) var findings: [Finding] = []
  /// A lower bound on the number of findings that are not listed: when the list is full, an item with a fault is not
  /// searched for further faults.
  public internal(set) var omitted = 0
  /// The number of items without a fault in the classes that were checked completely.
  public internal(set) var unharmed = 0
  /// The number of items with a fault.
  public var harmed: Int { harmedItems.count }
  /// The classes that could not be checked completely, because keys were not in memory.
  public internal(set) var unchecked: [AccessClass] = []
  /// The classes whose records, taken together, are not those that were written last. An item of such a class without a
  /// finding of its own has records that open and belong together, but it could be an older copy.
  public internal(set) var changed: [AccessClass] = []
  /// The number of records that were examined.
  public internal(set) var records = 0

  /// True when everything was checked and nothing is wrong.
  public var isOK: Bool { findings.isEmpty && unchecked.isEmpty }

  /// True when no further findings are listed.
  var isFull: Bool { findings.count >= Finding.limit }

  private var harmedItems: Set<Int64> = []
  // The harmed items that were not returned by ``takeNewlyHarmed()`` yet.
  private var newlyHarmed: [Int64] = []
  // The listed findings, without names.
  private var listed: Set<Finding> = []

  /// Notes that a class could not be checked completely.
  mutating func leave(_ accessible: AccessClass) {
    if !unchecked.contains(accessible) { unchecked.append(accessible) }
  }

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

  /// Returns the items that were found to be harmed since the last call.
  mutating func takeNewlyHarmed() -> [Int64] {
    defer { newlyHarmed = [] }
    return newlyHarmed
  }

  /// Drops the names of items, which may no longer be shown.
  mutating func forgetNames() {
    for place in findings.indices { findings[place].name = nil }
  }
}

extension Finding {
  /// The finding for an error; nil when the error says nothing about the store.
  init?(_ error: VaultError) {
    let reason: String
    switch error {
    case .corrupt(let text): reason = text
    case .distrusted(let text, let advice): reason = Clauses.joined(text, advice)
    case .noVault, .vaultExists, .inUse, .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed,
      .neverRead, .secondStore, .newer, .storage, .permissions, .invalidValue, .needsAnotherItem, .tooLarge,
      .lastSlot, .noSuchSlot, .overtaken, .backingUp, .rekeying:
      return nil
    }
    self.init(.damaged, reason)
  }

  /// The finding as reported by a later check that does not make it again. It names no item, because no item is known
  /// to be harmed now.
  var asFoundEarlier: Finding {
    Finding(kind, "found since the store was opened, and not by this check: \(text)")
  }
}

internal import VaultBytes
internal import VaultCore
package import VaultModel
internal import VaultStore

// The import of items from another keyring. Nothing that is in the vault is overwritten, and a second import of the
// same items stores nothing.
//
// An imported item gets a number that is derived from its path and its times in the other keyring, so that a later
// import recognizes the item, even if it was changed or moved in this vault. Without times, the number is derived from
// the item's facts. In either case the values are compared, because the other keyring may not show that a value was
// changed.
extension Items {
  /// The time that the comparisons of one call may take, in nanoseconds. A call always handles one item.
  private static let comparing: Int64 = 5_000_000
  /// The most items with the same attributes that a new one is compared with, the most items that the search for them
  /// looks at, and the most bytes of their values. Beyond that, a new item is stored although it may be in the vault
  /// already.
  private static let compared = (alike: 64, examined: 256, bytes: 4 << 20)
  /// The most numbers that are tried for items of one path and one time.
  private static let numbers: UInt8 = 16

  /// The items of a call that are to be stored.
  private struct Plan {
    var outcomes: [ImportOutcome] = []
    var changes: [(change: ItemChange, value: NewValue)] = []
    /// For each change, the index of its item among the call's items.
    var indices: [Int] = []
    var weight = CallWeight()
    var steps = 0

    /// True if an earlier item of the call has this number.
    func has(_ id: KeyringID) -> Bool { changes.contains { $0.change.keyring?.id == id } }
  }

  /// Stores items of another keyring, from the first one on, as many as one call can: at least one, if there is any.
  ///
  /// - Parameters:
  ///   - sizes: the size of each value in bytes.
  ///   - isTrial: true to store nothing, and only find out what would be stored.
  ///   - fill: writes the bytes of the value at an index; returns false if the bytes are malformed.
  /// - Returns: what has become of the items that were handled, in their order.
  package func takeIn(
    _ foreign: [ForeignItem], sizes: [Int], isTrial: Bool, for caller: Caller,
    fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> [ImportOutcome] {
    let keychain = try checkImport()
    defer { valueInHand.empty() }
    let detail = "compared \(Counted.text(foreign.count, "item")) of another keyring"
    let plan = try vault.audit.recording(.use, caller, nil, detail: detail) { () throws(Refusal) in
      var plan = Plan()
      let end = vault.clock.monotonic() + Self.comparing
      for index in foreign.indices {
        if index > 0, vault.clock.monotonic() >= end { break }
        do throws(ValueError) { try foreign[index].facts.validate() } catch {
          throw .invalidValue(kind: "", reason: error.reason)
        }
        guard sizes[index] <= Keychain.maximumValue else { throw .tooLarge(limit: Keychain.maximumValue) }
        guard valueInHand.fill(count: sizes[index], { fill(index, &$0) }) else {
          throw .invalidValue(kind: "", reason: NewValue.unreadable)
        }
        guard try add(foreign[index], index, sizes, isTrial, keychain, for: caller, &plan, fill) else { break }
      }
      return plan
    }
    guard !isTrial, !plan.changes.isEmpty else { return plan.outcomes }
    do throws(BatchRefusal) {
      _ = try set(plan.changes, for: caller) { index, bytes in fill(plan.indices[index], &bytes) }
    } catch {
      throw error.refusal
    }
    return plan.outcomes
  }

  func checkImport() throws(Refusal) -> Keychain {
    let keychain = try vault.keychain()
    guard !access.terms.isSystem else { throw .denied("the machine's vault has no keyring") }
    guard vault.state.kind == .unlocked else { throw vault.locked }
    return keychain
  }

  /// Decides what becomes of an item whose value is in hand, and adds the outcome to a plan; false if the call has no
  /// room for the item.
  private func add(
    _ foreign: ForeignItem, _ index: Int, _ sizes: [Int], _ isTrial: Bool, _ keychain: Keychain, for caller: Caller,
    _ plan: inout Plan, _ fill: (Int, inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> Bool {
    guard let id = try newID(of: foreign, keychain, for: caller, plan) else {
      plan.outcomes.append(.known)
      return true
    }
    guard isTrial || foreign.collection != nil else { throw .invalid("collection") }
    let collection = foreign.collection ?? foreign.imagined
    var (alike, isPresent, place) = try compare(foreign, collection, sizes[index], keychain, for: caller)
    for (new, other) in zip(plan.changes, plan.indices) where !isPresent {
      guard let facts = new.change.keyring, CollectionID(of: new.change.name) == collection,
        facts.attributes == foreign.facts.attributes
      else { continue }
      alike = true
      guard foreign.facts.isSame(as: facts), sizes[other] == sizes[index] else { continue }
      let value = SecureBytes(count: sizes[other]) { bytes in _ = fill(other, &bytes) }
      isPresent = value.withBytes { value in valueInHand.withBytes { ConstantTime.isEqual($0, value) } }
    }
    if isPresent {
      plan.outcomes.append(.present)
      return true
    }
    // Programs find the new state of an item before the state that was imported earlier, unless the earlier one was
    // changed in this vault.
    let order = isTrial ? 0 : place ?? vault.nextKeyringOrder()
    return try add(foreign, as: id, at: order, in: collection, index, size: sizes[index], &plan, alike ? .beside : .new)
  }

  private func add(
    _ foreign: ForeignItem, as id: KeyringID, at order: UInt64, in collection: CollectionID, _ index: Int, size: Int,
    _ plan: inout Plan, _ outcome: ImportOutcome
  ) throws(Refusal) -> Bool {
    guard let name = try? Keyring.name(of: id, in: collection) else { throw .invalid("collection") }
    var facts = foreign.facts
    (facts.id, facts.order) = (id, order)
    let isText = valueInHand.withBytes { !$0.isEmpty && $0.isUTF8 }
    let change = ItemChange(
      name: name, kind: isText ? .password : .blob, keyring: facts, accessible: vault.settings.keyring.accessible)
    var weight = plan.weight
    weight.add(change)
    plan.steps += access.steps(of: [name])
    if !plan.changes.isEmpty {
      var whole = weight
      whole.add(steps: plan.steps)
      guard plan.changes.count < CallLimits.items, (try? whole.check()) != nil else { return false }
    }
    plan.weight = weight
    plan.changes.append((change, .bytes(count: size)))
    plan.indices.append(index)
    plan.outcomes.append(outcome)
    return true
  }

  // MARK: Items that are known

  /// The number for an item whose value is in hand; nil if an earlier import has stored the item.
  private func newID(
    of foreign: ForeignItem, _ keychain: Keychain, for caller: Caller, _ plan: Plan
  ) throws(Refusal) -> KeyringID? {
    for number in 0..<Self.numbers {
      let id = foreign.id(number)
      if plan.has(id) { continue }
      let found: ItemInfo?
      do throws(VaultError) {
        let query = Query(keyringID: id, within: CollectionID.root)
        found = try keychain.find(query, limit: 1, now: vault.clock.wall()).items.first
      } catch {
        throw vault.refusal(error, "")
      }
      if let found {
        if try isKnown(foreign, found, keychain, for: caller) { return nil }
      } else if !isTaken(id, foreign.collection, keychain) {
        return id
      }
    }
    return .random()
  }

  /// True if an item that no import made has the name that an item with this number would get.
  private func isTaken(_ id: KeyringID, _ collection: CollectionID?, _ keychain: Keychain) -> Bool {
    guard let collection, let name = try? Keyring.name(of: id, in: collection) else { return false }
    return (try? keychain.item(named: name)) != nil
  }

  /// True if an item that an import stored under this number is the one whose value is in hand, as far as anybody can
  /// tell. If the source has changed without a change of its times, the value differs from that of the first version
  /// here.
  private func isKnown(
    _ foreign: ForeignItem, _ item: ItemInfo, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> Bool {
    guard let facts = item.keyring else { return false }
    let isChanged =
      item.current.number > 1 || item.modified > item.created || facts.modified != foreign.facts.modified
    if !isChanged, !foreign.isLike(facts) { return false }
    guard let first = item.versions.first(where: { $0.number == 1 }) else { return true }
    guard let isSame = try hasValueInHand(item, first, keychain, for: caller) else { return true }
    return isSame
  }

  // MARK: Items that are the same

  /// Looks for items with the attributes of an item whose value is in hand.
  ///
  /// - Returns: whether there are such items; whether one of them is the same in everything; and the place right before
  ///   the first of them that an earlier import has brought from an older state of the same item, and that nobody has
  ///   changed in this vault.
  private func compare(
    _ foreign: ForeignItem, _ collection: CollectionID, _ size: Int, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> (alike: Bool, isPresent: Bool, place: UInt64?) {
    let query = Query(keyring: foreign.facts.attributes, within: collection.folder)
    let found: [ItemInfo]
    do throws(VaultError) {
      found = try keychain.find(
        query, limit: Self.compared.alike, now: vault.clock.wall(), examining: Self.compared.examined, bytes: .max
      ) { item in
        let isAlike = item.keyring?.attributes == foreign.facts.attributes && CollectionID(of: item.name) == collection
        return isAlike ? .allow : .refuse
      }.items
    } catch {
      throw vault.refusal(error, "")
    }
    var bytes = 0
    for item in found {
      guard let facts = item.keyring, foreign.facts.isSame(as: facts), item.current.size == size else { continue }
      bytes += size
      guard bytes <= Self.compared.bytes else { break }
      if try hasValueInHand(item, item.current, keychain, for: caller) == true { return (true, true, nil) }
    }
    return (!found.isEmpty, false, place(of: foreign, among: found))
  }

  /// The place in the order right before the older states of the same item; nil if there are none, or if there is no
  /// room.
  private func place(of foreign: ForeignItem, among found: [ItemInfo]) -> UInt64? {
    let former = found.filter { foreign.isLater(than: $0) }.compactMap { $0.keyring?.order }
    guard let next = former.min() else { return nil }
    let spacing = min(next, KeyringFacts.orderSpacing)
    let last = found.compactMap { $0.keyring?.order }.filter { $0 < next }.max() ?? 0
    let place = next - min(spacing, next - last) / 2
    return place < next ? place : nil
  }

  /// Compares a version of an item with the value in hand; nil if the caller may not read the item now.
  private func hasValueInHand(
    _ item: ItemInfo, _ version: VersionInfo, _ keychain: Keychain, for caller: Caller
  ) throws(Refusal) -> Bool? {
    guard item.use == nil else { return nil }
    do throws(VaultError) {
      return try keychain.withValue(
        of: item.name, version: version.number, now: vault.clock.wall(), evenExpired: true
      ) { item in
        access.decide(.get, item.name, item.policy, for: caller)
      } _: { _, _, value in
        valueInHand.withBytes { ConstantTime.isEqual($0, value) }
      }
    } catch .notAllowed {
      return nil
    } catch {
      throw vault.refusal(error, item.name.text)
    }
  }

  /// Records that a caller takes the values of items out of the vault.
  ///
  /// - Parameter place: the place to which they are taken, in the caller's words.
  package func noteExport(to place: String, count: Int, for caller: Caller) throws(Refusal) {
    let detail = "\(Counted.text(count, "item")) to \(Audit.line(place))"
    try vault.audit.recording(.export, caller, nil, detail: detail) { () throws(Refusal) in _ = try vault.keychain() }
  }

  /// Records that a caller is about to store items from another program's files.
  ///
  /// - Parameter format: the format of the files, in the caller's words.
  package func noteImport(from format: String, count: Int, for caller: Caller) throws(Refusal) {
    let detail = "\(Counted.text(count, "item")) from \(Audit.line(format))"
    try vault.audit.recording(.import, caller, nil, detail: detail) { () throws(Refusal) in _ = try vault.keychain() }
  }
}

extension KeyringFacts {
  /// True if the items are the same for programs, apart from their values.
  fileprivate func isSame(as other: KeyringFacts) -> Bool {
    label.utf8.elementsEqual(other.label.utf8) && contentType.utf8.elementsEqual(other.contentType.utf8)
      && attributes == other.attributes
  }
}

extension ForeignItem {
  /// True if an item with the same attributes is this one as it was before its last change in the other keyring, and
  /// has not been changed in this vault.
  fileprivate func isLater(than item: ItemInfo) -> Bool {
    guard let made = facts.created, made > 0, let changed = facts.modified, let former = item.keyring,
      former.created == made, let earlier = former.modified
    else { return false }
    return earlier < changed && item.current.number == 1 && item.modified <= item.created
  }

  /// The number under which an import stores the item: the first 8 bytes of the BLAKE2b hash of its path and times, or
  /// of its path and facts if the other keyring tells no times, and of `number`.
  fileprivate func id(_ number: UInt8) -> KeyringID {
    var texts = [source, "\(facts.created ?? 0)", "\(facts.modified ?? 0)"]
    if facts.created ?? 0 == 0 || facts.modified ?? 0 == 0 {
      texts += [facts.label, facts.contentType] + facts.attributes.entries.flatMap { [$0.key, $0.value] }
    }
    return Self.number(of: [String(number)] + texts)
  }

  /// A collection that stands, in a trial, for the one that would be made.
  fileprivate var imagined: CollectionID {
    let parent = source.lastIndex(of: "/").map { String(source[..<$0]) } ?? source
    return .made(Self.number(of: ["collection", parent]))
  }

  private static func number(of texts: [String]) -> KeyringID {
    var bytes = Array("vault keyring import 1".utf8)
    for text in texts {
      let count = UInt64(text.utf8.count)
      for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
      bytes += Array(text.utf8)
    }
    let digest = bytes.withSpan { Digest(of: $0) }
    return digest.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return KeyringID(number: (0..<8).reduce(0) { $0 << 8 | UInt64(bytes[$1]) })
    }
  }
}

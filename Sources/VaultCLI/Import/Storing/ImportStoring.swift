internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The storing of an import's items, many in one transaction, and the comparison of what was stored.
final class ImportStoring {
  /// The most bytes in one call, well below the 2 MiB of a frame; a single large item may still fill a frame.
  private static let chunk = 1 << 20

  /// A version that was stored.
  struct Stored {
    let step: Int
    let name: String
    let version: Int
    let field: SourceField
    let isLast: Bool
  }

  private let session: Session
  private let steps: [ImportStep]
  private let run: String
  private let readBack: ReadBack
  private var call: [ImportSet] = []
  private var (time, text, size) = (0, 0, 0)

  /// The number of items of which the last version is stored.
  private(set) var count = 0
  /// The reasons why the vault did not take items.
  private(set) var refused: [ObjectIdentifier: String] = [:]
  /// The other subjects that have rights to the new items by grants.
  private(set) var openTo: [Wire.Access] = []

  /// - Parameter run: the identification of the import.
  init(_ session: Session, _ steps: [ImportStep], run: String) {
    (self.session, self.steps, self.run) = (session, steps, run)
    readBack = ReadBack(session, steps, run: run)
  }

  /// The names of the items that differ from the source in the vault.
  var differing: [String] { readBack.differing }

  /// Stores all items, and compares them with the source. An error says how many were stored before it.
  func storeAll() throws(Failure) {
    let progress = Progress()
    defer { progress.clear() }
    do throws(Failure) {
      for number in steps.indices {
        try add(number)
        progress.show(ProgressBar.text("storing", number, of: steps.count, " of \(steps.count) items"))
      }
      try send()
      try readBack.finish()
    } catch {
      throw Failure(
        error.exit, "\(error.event) (\(Counted.text(count, "item")) stored before that)",
        [error.advice, "the same command goes on where this one ended"].compactMap { $0 }.joined(separator: "; "))
    }
  }

  // MARK: Calls

  /// Adds the versions of an item to the call, all together if one call has room for them.
  private func add(_ number: Int) throws(Failure) {
    let whole = steps[number].sets(number: number, run: run, isDivided: false)
    if hasRoom(for: whole) { return whole.forEach(append) }
    try send()
    if whole.count == 1 || hasRoom(for: whole) { return whole.forEach(append) }
    for set in steps[number].sets(number: number, run: run, isDivided: true) {
      if !hasRoom(for: [set]) { try send() }
      append(set)
    }
  }

  private func hasRoom(for sets: [ImportSet]) -> Bool {
    let (time, text, size) = sets.reduce((self.time, self.text, self.size)) { sum, set in
      (sum.0 + set.weight.time, sum.1 + set.weight.text, sum.2 + set.size)
    }
    return call.count + sets.count <= CallLimits.items && time <= CallLimits.time && text <= CallLimits.text
      && size <= Self.chunk
  }

  private func append(_ set: ImportSet) {
    call.append(set)
    time += set.weight.time
    text += set.weight.text
    size += set.size
  }

  /// Stores the items of the call: in one call, or in as many as the daemon requires, because only the daemon knows
  /// how much it computes for a key. An item that the vault does not take does not keep it from taking the others.
  private func send() throws(Failure) {
    var rest = call
    (call, time, text, size) = ([], 0, 0, 0)
    var most = rest.count
    while !rest.isEmpty {
      let part = Array(rest.prefix(most))
      switch try store(part) {
      case .stored: rest.removeFirst(part.count)
      case .tooMuch: most = part.count / 2
      case .refused(let failed, let reason): rest = without(part[failed], reason, rest)
      }
    }
  }

  private enum Outcome {
    case stored
    case tooMuch
    case refused(Int, String)
  }

  private func store(_ part: [ImportSet]) throws(Failure) -> Outcome {
    var batch = Batch()
    for set in part { batch.add(set.item, value: set.field.value) }
    var outcome = Outcome.stored
    let versions: [Int] = try session.unlocking { vault in
      do {
        return try vault.setMany(batch, 0..<part.count, openTo: { openTo += $0 }, meanwhile: readBack.goOn)
      } catch ClientError.fault(.tooMuch) where part.count > 1 {
        outcome = .tooMuch
      } catch ClientError.fault(.invalidValue(_, let reason, let failed?, _)) where part.indices.contains(failed) {
        outcome = .refused(failed, reason)
      }
      return []
    }
    guard case .stored = outcome else { return outcome }
    guard versions.count == part.count else {
      throw Failure(.software, "the daemon stored another number of items than it was given", "report this")
    }
    count += part.count(where: \.isLast)
    // A part is compared before the next one is added.
    try readBack.finish()
    readBack.add(
      zip(part, versions).map { set, version in
        Stored(step: set.step, name: set.item.name, version: version, field: set.field, isLast: set.isLast)
      })
    return .stored
  }

  /// The sets that are left after the vault refused one: the item becomes a blob if it is not one yet, because a blob
  /// can have any value. Otherwise the item is left out.
  private func without(_ set: ImportSet, _ reason: String, _ rest: [ImportSet]) -> [ImportSet] {
    let step = steps[set.step]
    guard step.present == nil, step.item.kind != .blob, set.item.kind != nil else {
      refused[ObjectIdentifier(step.item)] = "the vault does not take it: \(reason)"
      return rest.filter { $0.step != set.step }
    }
    step.item.kind = .blob
    return rest.map { other in
      var other = other
      if other.step == set.step, other.item.kind != nil { other.item.kind = ItemKind.blob.rawValue }
      return other
    }
  }
}

internal import VaultModel
internal import VaultWire

/// The account of every item that an import or an export finds.
struct TransferAccount {
  /// The items of one collection.
  struct Part {
    /// The label of the collection where the items come from.
    let label: String
    /// The collection that takes them in; nil if it is not made yet.
    var target: String?
    /// True if the collection is made for them.
    var isNew = false
    var isDefault = false
    var counts: [ImportOutcome: Int] = [:]
    /// The reason why nothing of the collection is copied.
    var problem: Problem?

    var stored: Int { (counts[.new] ?? 0) + (counts[.beside] ?? 0) }
  }

  /// The reason why a collection is left out.
  struct Problem {
    let reason: String
    /// True if it is beyond the limits of the vault, so that another attempt would end in the same way.
    let isLasting: Bool

    init(_ reason: String, isLasting: Bool = false) {
      (self.reason, self.isLasting) = (Printable.text(reason), isLasting)
    }
  }

  /// An item that is not copied, and the reason.
  struct Refused {
    let collection: String
    let label: String
    let reason: String
  }

  var parts: [Part] = []
  /// The items that cannot be kept in the place to which they go.
  var refused: [Refused] = []
  /// The items that could not be read, or not be stored, this time. Nobody knows what is in them.
  var failed: [Refused] = []
  /// The items that were left out on purpose, with what they are.
  var leftOut: [(what: String, count: Int)] = []

  var stored: Int { parts.reduce(0) { $0 + $1.stored } }
  /// True if the transfer makes or changes anything.
  var changesAnything: Bool { stored > 0 || parts.contains { $0.isNew || $0.isDefault } }
  /// The number of items to copy, in words; if there are none, the number of collections that change.
  var extent: String {
    if stored > 0 { return Counted.text(stored, "item") }
    return Counted.text(parts.count { $0.isNew || $0.isDefault }, "collection")
  }

  mutating func leaveOut(_ what: String, count: Int = 1) {
    if let index = leftOut.firstIndex(where: { $0.what == what }) {
      leftOut[index].count += count
    } else {
      leftOut.append((what, count))
    }
  }

  /// The failure of a transfer that left out collections or items that another attempt may copy; nil if there are none.
  var unfinished: Failure? {
    failure(.retry, parts.filter { $0.problem?.isLasting == false }, failed, "run it again")
  }

  /// The failure of a transfer that left out collections or items that no attempt can copy; nil if there are none.
  var impossible: Failure? {
    failure(.invalid, parts.filter { $0.problem?.isLasting == true }, refused, nil)
  }

  /// The failure of a transfer that left out a whole collection, or items that another attempt may copy; nil otherwise.
  var incomplete: Failure? {
    unfinished ?? failure(.invalid, parts.filter { $0.problem != nil }, [], nil)
  }

  private func failure(_ exit: Exit, _ parts: [Part], _ items: [Refused], _ advice: String?) -> Failure? {
    guard !parts.isEmpty || !items.isEmpty else { return nil }
    var texts: [String] = []
    if !parts.isEmpty {
      let reasons = parts.map { "\(Printable.quoted($0.label)): \($0.problem?.reason ?? "")" }.joined(separator: "; ")
      texts.append("\(Counted.text(parts.count, "collection")) could not be copied: \(reasons)")
    }
    if !items.isEmpty {
      let others = stored > 0 ? ", and the others were" : ""
      texts.append("\(Counted.text(items.count, "item")) could not be copied\(others)")
    }
    return Failure(exit, texts.joined(separator: "; "), advice)
  }

  /// The account in words, a line for each collection and each item that is not copied.
  ///
  /// - Parameter isTrial: true if nothing was copied yet.
  func lines(isTrial: Bool) -> [String] {
    var lines = parts.map { part in
      let title = Printable.quoted(part.label) + Self.note(part)
      if let problem = part.problem { return "\(title): left out, \(problem.reason)" }
      return "\(title): \(Self.words(part.counts, isTrial ? "to copy" : "copied"))"
    }
    for (what, count) in leftOut { lines.append("\(Counted.text(count, "item")) left out: \(what)") }
    for (items, fate) in [(refused, "not copied"), (failed, isTrial ? "cannot be read now" : "could not be copied")] {
      for item in items {
        lines.append(
          "\(Printable.quoted(item.label)) in \(Printable.quoted(item.collection)) \(fate): "
            + Printable.text(item.reason))
      }
    }
    return lines
  }

  private static func note(_ part: Part) -> String {
    var notes: [String] = []
    if part.isNew { notes.append("a new collection") }
    if part.isDefault { notes.append("the default one") }
    return notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
  }

  private static func words(_ counts: [ImportOutcome: Int], _ copied: String) -> String {
    let words: [(ImportOutcome, String)] = [
      (.new, copied), (.beside, "\(copied) beside another item with the same attributes"),
      (.present, "already there"), (.known, "copied earlier"),
    ]
    let parts = words.compactMap { outcome, word in
      (counts[outcome] ?? 0) > 0 ? "\(Counted.text(counts[outcome] ?? 0, "item")) \(word)" : nil
    }
    return parts.isEmpty ? "no items" : parts.joined(separator: ", ")
  }

  func write(_ object: inout JSONBuilder, isTrial: Bool) {
    object.add("dry_run", isTrial)
    writeMembers(&object)
  }

  /// Writes the account without saying whether anything was copied.
  func writeMembers(_ object: inout JSONBuilder) {
    object.add("copied", stored)
    for outcome in [ImportOutcome.beside, .present, .known] {
      object.add(outcome.rawValue, parts.reduce(0) { $0 + ($1.counts[outcome] ?? 0) })
    }
    object.add("collections", parts) { object, part in
      object.add("label", part.label)
      object.add("collection", part.target)
      object.add("made", part.isNew)
      object.add("default", part.isDefault)
      object.add("copied", part.stored)
      for outcome in [ImportOutcome.beside, .present, .known] {
        object.add(outcome.rawValue, part.counts[outcome] ?? 0)
      }
      object.add("problem", part.problem?.reason)
    }
    object.add("left_out", leftOut) { object, one in
      object.add("what", one.what)
      object.add("count", one.count)
    }
    for (name, items) in [("refused", refused), ("failed", failed)] {
      object.add(name, items) { object, item in
        object.add("collection", item.collection)
        object.add("label", item.label)
        object.add("reason", item.reason)
      }
    }
  }

  /// Shows the account at the end, and fails if something was not copied. A trial fails if something could not be read.
  func finish(_ globals: Globals, isTrial: Bool, isShown: Bool) throws(Failure) {
    if globals.json {
      try Output.json { write(&$0, isTrial: isTrial) }
    } else if !isShown || isTrial || unfinished != nil || impossible != nil {
      try Output.lines(lines(isTrial: isTrial))
    }
    if isTrial {
      guard unfinished == nil else { throw Failure(.retry, "not everything can be read now", "run it again") }
      return
    }
    if let failure = unfinished ?? impossible { throw failure }
  }
}

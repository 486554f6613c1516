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
    /// The reason why nothing of the collection could be read.
    var problem: String?

    var stored: Int { (counts[.new] ?? 0) + (counts[.beside] ?? 0) }
  }

  /// An item that is not moved, and the reason.
  struct Refused {
    let collection: String
    let label: String
    let reason: String
  }

  var parts: [Part] = []
  var refused: [Refused] = []
  /// The items that were left out on purpose, with what they are.
  var leftOut: [(what: String, count: Int)] = []

  var stored: Int { parts.reduce(0) { $0 + $1.stored } }
  var problems: [String] { parts.compactMap { part in part.problem.map { "\(Printable.quoted(part.label)): \($0)" } } }

  mutating func leaveOut(_ what: String) {
    if let index = leftOut.firstIndex(where: { $0.what == what }) {
      leftOut[index].count += 1
    } else {
      leftOut.append((what, 1))
    }
  }

  /// The account in words, a line for each collection and each item that is not moved.
  ///
  /// - Parameter isTrial: true if nothing was moved yet.
  func lines(isTrial: Bool) -> [String] {
    var lines = parts.map { part in
      let title = Printable.quoted(part.label) + Self.note(part)
      if let problem = part.problem { return "\(title): left out, \(problem)" }
      return "\(title): \(Self.words(part.counts, isTrial ? "to copy" : "copied"))"
    }
    for (what, count) in leftOut { lines.append("\(Counted.text(count, "item")) left out: \(what)") }
    for item in refused {
      lines.append(
        "\(Printable.quoted(item.label)) in \(Printable.quoted(item.collection)) not copied: "
          + Printable.text(item.reason))
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
      (.new, copied), (.beside, "\(copied) beside another one with the same attributes"),
      (.present, "already there"), (.known, "copied earlier"),
    ]
    let parts = words.compactMap { outcome, word in
      (counts[outcome] ?? 0) > 0 ? "\(Counted.text(counts[outcome] ?? 0, "item")) \(word)" : nil
    }
    return parts.isEmpty ? "no items" : parts.joined(separator: ", ")
  }

  func write(_ object: inout JSONBuilder, isTrial: Bool) {
    object.add("dry_run", isTrial)
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
      object.add("problem", part.problem)
    }
    object.add("left_out", leftOut) { object, one in
      object.add("what", one.what)
      object.add("count", one.count)
    }
    object.add("refused", refused) { object, item in
      object.add("collection", item.collection)
      object.add("label", item.label)
      object.add("reason", item.reason)
    }
  }

  /// Shows the account at the end, and fails if something was not moved.
  func finish(_ globals: Globals, isTrial: Bool, isShown: Bool) throws(Failure) {
    if globals.json {
      try Output.json { write(&$0, isTrial: isTrial) }
    } else if !isShown || isTrial {
      try Output.lines(lines(isTrial: isTrial))
    }
    guard !isTrial else { return }
    if !problems.isEmpty {
      let count = Counted.text(problems.count, "collection")
      throw Failure(.retry, "\(count) could not be copied: \(problems.joined(separator: "; "))", "run it again")
    }
    if !refused.isEmpty {
      throw Failure(.invalid, "\(Counted.text(refused.count, "item")) could not be copied, and the others were")
    }
  }
}

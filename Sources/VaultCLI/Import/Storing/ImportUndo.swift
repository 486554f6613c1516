internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The taking back of the importer's last import: the items that it made go to the trash, and the values that it
/// replaced become the current ones again.
///
/// Everybody who may make an item may give it the attributes of an import. So only items count that nobody but the
/// importer has made and written.
struct ImportUndo {
  private let session: Session

  init(_ session: Session) { self.session = session }

  /// The items of the last import.
  struct Found {
    let run: String
    var made: [String] = []
    var replaced: [Replaced] = []
    /// The items to which others have given another value since, with the callers that did.
    var kept: [(name: String, writer: String)] = []

    /// Says what is done, by the verbs for the items that go to the trash and for those that stay.
    func text(_ move: String, _ restore: String) -> String {
      var parts: [String] = []
      if !made.isEmpty { parts.append("\(move) \(Counted.text(made.count, "item")) to the trash") }
      if !replaced.isEmpty {
        let values = replaced.count == 1 ? "value" : "values"
        parts.append("\(restore) the earlier \(values) of \(Counted.text(replaced.count, "item"))")
      }
      return parts.joined(separator: " and ")
    }

    /// The items, with what becomes of each, in the order of their names.
    var lines: [String] {
      let back = replaced.map { ($0.item.name, $0.text) }
      let since = kept.map { ($0.name, "stays, because \(Printable.text($0.writer)) has written it since") }
      let all = made.map { ($0, "to the trash") } + back + since
      return all.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map { "\(Printable.whole($0)): \($1)" }
    }
  }

  /// An item that was there before.
  struct Replaced {
    let item: Wire.Item
    /// The number of the version that was replaced.
    let version: Int
    /// The import from which that version came; nil if it came from none.
    let run: String?
    /// The expiry before, in Unix seconds, and 0 for none; nil if the import did not note it.
    let expires: Int64?
    /// The kind before, if the import has changed it.
    let kind: ItemKind?

    /// Nil for an item that was not there before.
    init?(_ item: Wire.Item) {
      let before = (item.attributes[ImportKey.replaced] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
      guard let version = before.first.flatMap({ Int($0) }) else { return nil }
      (self.item, self.version, run) = (item, version, before.count > 1 ? before[1] : nil)
      let expiry = item.attributes[ImportKey.replacedExpiry]
      expires = expiry.flatMap { $0.utf8.elementsEqual(ImportKey.never.utf8) ? 0 : Timestamp.parse($0) }
      kind = item.attributes[ImportKey.replacedKind].flatMap { ItemKind(rawValue: $0) }
    }

    var text: String {
      let value = "back to the value of version \(version)"
      guard let expires, expires != item.expires ?? 0 else { return value }
      return value + (expires == 0 ? ", without an expiry" : ", and to the expiry \(Timestamp.format(expires))")
    }

    /// The attributes after the import is taken back.
    var attributes: [String: String] {
      var attributes = item.attributes
      attributes[ImportKey.run] = run
      for key in [ImportKey.replaced, ImportKey.replacedExpiry, ImportKey.replacedKind] { attributes[key] = nil }
      return attributes
    }
  }

  func run(_ globals: Globals, isTrial: Bool, isAsked: Bool) throws {
    try FileImport.checkTerminal(isAsked: isAsked && !isTrial)
    try session.unlockIfLocked()
    try session.needAllNames()
    let items = try session.call { vault in try vault.find("\(ImportKey.run)~**") }
    guard let found = Self.last(among: items, try Importer(session)) else {
      throw Failure(
        .missing,
        items.isEmpty
          ? "there is no import to take back: no item in the vault comes from one"
          : "there is no import of yours to take back: others have made or written the items that come from one")
    }
    if isTrial { return try report(found, globals, isTrial: true) }
    if isAsked {
      let lines = found.lines
      let rest = lines.count > 20 ? ["and \(lines.count - 20) more"] : []
      try Confirmation(
        consequence: "this would \(found.text("move", "restore"))",
        question: "\(found.text("Move", found.made.isEmpty ? "Restore" : "restore"))?",
        facts: ["the import of \(Printable.text(found.run)):"] + lines.prefix(20) + rest
      ).ask()
    }
    try restore(found)
    try delete(found.made)
    try report(found, globals, isTrial: false)
  }

  /// The items of the importer's newest import, which has the greatest identification; nil if there is none.
  static func last(among items: [Wire.Item], _ importer: Importer) -> Found? {
    func run(_ item: Wire.Item) -> String {
      let run = item.attributes[ImportKey.run] ?? ""
      return item.isUnfinishedImport ? String(run.dropLast(PresentItems.unfinished.count)) : run
    }
    let runs = items.filter { importer.stranger(in: $0) == nil }.map(run)
    guard let newest = runs.max(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }), !newest.isEmpty else {
      return nil
    }
    var found = Found(run: newest)
    for item in items where importer.hasMade(item) && run(item).utf8.elementsEqual(newest.utf8) {
      if let writer = importer.stranger(in: item) {
        found.kept.append((item.name, writer))
      } else if let replaced = Replaced(item) {
        found.replaced.append(replaced)
      } else {
        found.made.append(item.name)
      }
    }
    return found
  }

  /// Restores the replaced values, with their expiry and kind. The other attributes stay as the import left them,
  /// because the vault keeps no earlier ones.
  private func restore(_ found: Found) throws(Failure) {
    for replaced in found.replaced {
      let name = replaced.item.name
      var item = Wire.NewItem(name: name, attributes: replaced.attributes, update: true)
      (item.expires, item.kind) = (replaced.expires, replaced.kind?.rawValue)
      _ = try session.unlocking { vault in
        // A blob can have both values.
        if replaced.kind != nil {
          _ = try vault.set(Wire.NewItem(name: name, kind: ItemKind.blob.rawValue, update: true))
        }
        _ = try vault.restoreVersion(replaced.version, of: name)
        return try vault.set(item)
      }
    }
  }

  private func delete(_ names: [String]) throws(Failure) {
    var moved = 0
    let progress = Progress()
    defer { progress.clear() }
    do throws(Failure) {
      try session.delete(names[...]) { part, _ in
        moved += part.count
        progress.show("moved \(moved) of \(Counted.text(names.count, "item")) to the trash")
      }
    } catch {
      throw Failure(error.exit, "\(error.event) (\(moved) moved to the trash before)", error.advice)
    }
  }

  private func report(_ found: Found, _ globals: Globals, isTrial: Bool) throws(Failure) {
    if globals.json {
      return try Output.json { object in
        object.add("dry_run", isTrial)
        object.add("import", found.run)
        object.add("deleted", found.made)
        object.add("restored", found.replaced.map(\.item.name))
        if !found.kept.isEmpty { object.add("kept", found.kept.map(\.name)) }
      }
    }
    if isTrial { return try Output.lines(found.lines) }
    guard Keyboard.isAttended else { return }
    let trash = found.made.isEmpty ? "" : "; \(Hint.vault("trash")) lists what can be restored"
    let since = Counted.text(found.kept.count, "item")
    let kept = found.kept.isEmpty ? "" : "; \(since) that others have written since stay as they are"
    Output.note(found.text("moved", "restored") + trash + kept)
  }
}

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

  func run(_ globals: Globals, isTrial: Bool, isAsked: Bool) throws {
    try FileImport.checkTerminal(isAsked: isAsked && !isTrial)
    try session.unlockIfLocked()
    try session.needAllNames()
    let items = try session.call { vault in try vault.find("\(ImportKey.run)~**") }
    let undone = try UndoneImport(last: items, try Importer(session)) { item throws(Failure) in
      try session.unlocking { vault in try vault.history(item.name) }.map(\.version)
    }
    guard let undone else {
      throw Failure(
        .missing,
        items.allSatisfy { $0.importRun == nil }
          ? "there is no import to take back: no item in the vault comes from one"
          : "there is no import of yours to take back: others have made or written the items that come from one")
    }
    // Without anything to take back, the items keep their marks: the command must not pass over an import in silence.
    if isTrial || undone.count == 0 {
      try report(undone, globals, isTrial: isTrial)
      if let failure = undone.failure { throw failure }
      return
    }
    if isAsked { try ask(undone) }
    try takeBack(undone)
    try report(undone, globals, isTrial: false)
  }

  private func ask(_ undone: UndoneImport) throws(Failure) {
    let lines = undone.lines
    let rest = lines.count > 20 ? ["and \(lines.count - 20) more"] : []
    try Confirmation(
      consequence: "this would \(undone.text("move", "restore"))",
      question: "\(undone.text("Move", undone.made.isEmpty ? "Restore" : "restore"))?",
      facts: ["\(undone.heading):"] + lines.prefix(20) + rest
    ).ask()
  }

  // MARK: Taking back

  /// Takes everything back. An error says how many items were taken back before it.
  private func takeBack(_ undone: UndoneImport) throws(Failure) {
    var done = 0
    let progress = Progress()
    defer { progress.clear() }
    do throws(Failure) {
      for replaced in undone.replaced {
        try restore(replaced)
        done += 1
        progress.show("restored \(done) of \(Counted.text(undone.replaced.count, "item"))")
      }
      try session.delete(undone.made[...]) { part, _ in
        done += part.count
        let moved = done - undone.replaced.count
        progress.show("moved \(moved) of \(Counted.text(undone.made.count, "item")) to the trash")
      }
      for item in undone.left { try release(item) }
    } catch {
      let before = "(\(done) of \(Counted.text(undone.count, "item")) taken back before that)"
      throw Failure(
        error.exit, "\(error.event) \(before)",
        [error.advice, "the same command goes on where this one ended"].compactMap { $0 }.joined(separator: "; "))
    }
  }

  /// Restores a replaced value, with its expiry and kind. The other attributes stay as the import left them, because
  /// the vault keeps no earlier ones.
  private func restore(_ replaced: UndoneImport.Replaced) throws(Failure) {
    let name = replaced.item.name
    var before = Wire.NewItem(name: name, attributes: replaced.attributesMeanwhile, update: true)
    // A blob can have both values.
    if replaced.kind != nil { before.kind = ItemKind.blob.rawValue }
    try session.unlocking { vault in
      _ = try vault.set(before)
      let version = try vault.restoreVersion(replaced.version, of: name)
      var after = Wire.NewItem(name: name, attributes: replaced.attributes(version: version), update: true)
      (after.expires, after.kind) = (replaced.expires, replaced.kind?.rawValue)
      _ = try vault.set(after)
    }
  }

  /// Takes from an item that stays the marks of the import, so that the same command takes back the import before it.
  private func release(_ item: Wire.Item) throws(Failure) {
    try session.unlocking { vault in
      _ = try vault.set(Wire.NewItem(name: item.name, attributes: item.attributesWithoutImport, update: true))
    }
  }

  // MARK: The report

  private func report(_ undone: UndoneImport, _ globals: Globals, isTrial: Bool) throws(Failure) {
    if globals.json {
      return try Output.json { object in
        object.add("dry_run", isTrial)
        object.add("import", undone.run)
        if !undone.sources.isEmpty { object.add("sources", undone.sources) }
        object.add("deleted", undone.made)
        object.add("restored", undone.replaced.map(\.item.name))
        if !undone.kept.isEmpty {
          object.add("kept", undone.kept.map(\.item.name))
          object.add("reasons", undone.kept.map(\.reason.text))
        }
      }
    }
    if isTrial { return try Output.lines(undone.lines) }
    // Nobody who goes without the question has seen these.
    try Output.lines(undone.keptLines)
    guard Keyboard.isAttended, undone.count > 0 else { return }
    let trash = undone.made.isEmpty ? "" : "; \(Hint.vault("trash")) lists what can be restored"
    let kept = undone.kept.isEmpty ? "" : "; \(undone.keptText)"
    Output.note(undone.text("moved", "restored") + trash + kept)
  }
}

internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault edit`.
struct EditRequest {
  let command: EditCommand
  /// The name of the item that gets the edited value: first the given one, then the one that a person answered.
  private var name: String
  /// The way in which the edited value is stored.
  private var way = Way.nextVersion
  /// True if the item was found, so that a new item can get the same protection.
  private var isKnown = false

  /// A way to store an edited value.
  private enum Way {
    /// As the next version of the item that was edited.
    case nextVersion
    /// As a new item like the one that was edited, under a name that no item has.
    case newItem
    /// As the next version of another item, whose value a person has agreed to replace.
    case replacement
  }

  /// A version of an item, with the time that identifies the item: an item that was deleted and made again counts its
  /// versions from 1 again.
  private struct Seen {
    var version: Int
    /// The time at which the item was made, in Unix seconds; nil if the caller may not find it.
    var created: Int64?

    /// False if the two items are known to be different ones.
    func isOfSameItem(as other: Seen) -> Bool { created == nil || other.created == nil || created == other.created }

    func isSame(as other: Seen) -> Bool { version == other.version && isOfSameItem(as: other) }
  }

  init(_ command: EditCommand) {
    self.command = command
    name = command.name
  }

  mutating func run() throws(Failure) {
    let session = try Session(command.globals)
    session.takesKind = true
    let old = try session.unlocking(for: "vault edit \(name)") { vault in
      try vault.read(name, expired: command.expired, describe: true)
    }
    // A caller that may read and set the item need not have the right to find it.
    let item = if let item = old.item { item } else { try session.look(at: name) }
    isKnown = item != nil
    guard old.bytes.withBytes({ $0.isText }) else {
      throw Failure(
        .invalid, "\(Printable.quoted(name)) is not text, and editors change such bytes",
        "store another value with \(Hint.vault("set --update --file"))")
    }
    try checkRight(session)
    let editor = try Editor()
    var text = old.bytes.withBytes { SecretBuffer(copying: $0) }
    var isEdited = false
    let seen = Seen(version: old.version, created: item?.created)
    var versions = (replaced: seen, current: seen)
    var typed = TypedValue(isTyped: false)
    defer { typed.end() }
    while true {
      let stored: Wire.SetReply?
      do throws(Failure) {
        if !isEdited { try editor.edit(&text) }
        isEdited = true
        typed.begin()
        stored = try store(text, insteadOf: old, item, &versions, session)
      } catch {
        // If the editor failed and changed nothing, nothing was typed.
        guard isEdited || !isSame(text, old, item) else { throw error }
        typed.begin()
        isEdited = try !decide(about: error, isDone: isEdited, &versions, session)
        if !isEdited { typed.end() }
        continue
      }
      typed.end()
      return try report(version: stored?.version ?? old.version, stored)
    }
  }

  /// Lets a person decide about an edited value that could not be stored, and prepares what the decision needs.
  ///
  /// - Returns: true if the value is to be edited again.
  /// - Throws: ``Failure`` also if the person gives up.
  private mutating func decide(
    about failure: Failure, isDone: Bool, _ versions: inout (replaced: Seen, current: Seen), _ session: Session
  ) throws(Failure) -> Bool {
    let isTaken = way == .newItem && failure == Failure(Fault.alreadyExists(name: name, failed: nil))
    // If the caller may not find the item, no new item is offered in its place: it might be protected less.
    let isGone = way != .newItem && failure.exit == .missing && isKnown
    let change: SecondChance.NameChange? = isTaken ? .taken : isGone ? .gone : way == .newItem ? .chosen : nil
    let origin = SecondChance.Origin.editor(isDone: isDone, change)
    let isOther = way == .nextVersion && !versions.current.isSame(as: versions.replaced)
    let offer = isOther ? Self.replacement : SecondChance.sameValue
    // The usual advice is about the options of another command, or is what the question offers.
    let shown = isTaken || isOther ? Failure(failure.exit, failure.event) : failure.ofGoneItem
    guard Keyboard.canAsk else { throw failure.ofGoneItem }
    var chance = try SecondChance.after(shown, origin, offer: offer, session)
    while chance == .otherName {
      do throws(Failure) {
        name = try SecondChance.askForName()
        way = .newItem
        return false
      } catch {
        SecondChance.tell(error)
        chance = try SecondChance.asking(shown, origin, offer: offer)
      }
    }
    switch chance {
    case .correct: return true
    case .replace: way = .replacement
    case .again:
      if isGone { try makeNewItem(session) }
      versions.replaced = versions.current
    case .otherName, .otherKind: break
    }
    return false
  }

  /// Lets the next attempt make a new item, unless the missing item is there again.
  private mutating func makeNewItem(_ session: Session) throws(Failure) {
    do throws(Failure) {
      // A caller that may not find the item learns from the attempt whether it is there.
      if try session.look(at: name) == nil { way = .newItem }
    } catch {
      if error.exit == .missing { way = .newItem }
    }
  }

  /// Refuses before the editor starts if the caller may not store what it edits.
  private func checkRight(_ session: Session) throws(Failure) {
    let rights = ["set"] + (command.kind == nil ? [] : ["admin"])
    for right in rights {
      guard try !session.call({ vault in try vault.can(nil, right, name) }) else { continue }
      throw Failure(
        .denied, "you may read \(Printable.quoted(name)), but not change it, so no editor is started",
        "\(Hint.vault("get")) prints it")
    }
  }

  /// The offer to store a value although somebody else has stored one meanwhile.
  private static let replacement = "store yours as the next version"

  /// Stores an edited text as a new version, or another kind of the same value; returns nil if neither has changed.
  ///
  /// - Parameter versions: the version that may be replaced, and the one that the item is found to have.
  private func store(
    _ text: borrowing SecretBuffer, insteadOf old: borrowing Value, _ item: Wire.Item?,
    _ versions: inout (replaced: Seen, current: Seen), _ session: Session
  ) throws(Failure) -> Wire.SetReply? {
    let new = value(text, old, item)
    let isSame = new.isEqual(to: old.bytes)
    if way == .nextVersion, isSame, command.kind == nil || command.kind == item?.kind { return nil }
    try check(new, mayBeEmpty: isSame && way != .replacement || command.allowEmpty, kind(item))
    switch way {
    case .nextVersion: break
    case .newItem: return try session.unlocking { vault in try vault.set(newItem(like: item), value: new) }
    case .replacement:
      _ = try session.look(at: name)
      let replaced = Wire.NewItem(name: name, kind: command.kind, update: true)
      return try session.unlocking { vault in try vault.set(replaced, value: new) }
    }
    versions.current = try current(session)
    guard versions.current.isSame(as: versions.replaced) else {
      let item = Printable.quoted(name)
      let changed =
        versions.current.isOfSameItem(as: versions.replaced)
        ? "\(item) was changed meanwhile and has version \(versions.current.version)"
        : "another item has the name \(item) meanwhile"
      throw Failure(.exists, "\(changed); nothing was stored", "edit it again")
    }
    let changed = Wire.NewItem(name: name, kind: command.kind, update: true)
    if isSame { return try session.unlocking { vault in try vault.set(changed) } }
    return try session.unlocking { vault in try vault.set(changed, value: new) }
  }

  /// Returns a new item with the kind, the attributes and the protection of the one that was edited, and with its
  /// expiry unless that has passed.
  private func newItem(like item: Wire.Item?) -> Wire.NewItem {
    let expires = item?.expires.flatMap { Int64($0) > Int64(time(nil)) ? $0 : nil }
    return Wire.NewItem(
      name: name, kind: command.kind ?? item?.kind, use: command.kind == nil ? item?.use : nil,
      attributes: item?.attributes, accessible: item?.accessible, require: item?.require, reuse: item?.reuse,
      expires: expires)
  }

  /// Refuses an edited value that is surely a mistake.
  private func check(_ new: borrowing SecretBuffer, mayBeEmpty: Bool, _ kind: ItemKind?) throws(Failure) {
    guard new.withBytes({ $0.isText }) else {
      throw Failure(
        .invalid, "the edited value is not text (UTF-8 without control characters); nothing was stored",
        "set its encoding to UTF-8, or store such bytes with \(Hint.vault("set --update --file"))")
    }
    guard new.count <= ValueInput.limit else {
      throw Failure(
        .invalid, "the edited value is longer than \(Counted.size(ValueInput.limit)); nothing was stored",
        "store less, or store it in parts")
    }
    guard new.count > 0 || mayBeEmpty else {
      throw Failure(
        .invalid, "the edited value is empty, so nothing was stored for \(Printable.quoted(name))",
        ValueInput.adviceOnEmpty(kind))
    }
  }

  /// The kind that the item will have; nil for one that this program does not know.
  private func kind(_ item: Wire.Item?) -> ItemKind? {
    ItemKind(rawValue: command.kind ?? item?.kind ?? ItemKind.password.rawValue)
  }

  private func isSame(_ text: borrowing SecretBuffer, _ old: borrowing Value, _ item: Wire.Item?) -> Bool {
    value(text, old, item).isEqual(to: old.bytes)
  }

  /// Returns the value of an edited text for the kind that the item will have.
  private func value(_ text: borrowing SecretBuffer, _ old: borrowing Value, _ item: Wire.Item?) -> SecretBuffer {
    let kind = kind(item)
    var new = EditRequest.value(text, editedFrom: old.bytes, kind: kind)
    // The new kind may have one line while the old one had several.
    if command.kind != nil, kind?.hasOneLine == true { new.truncate(to: new.count - new.finalBreak) }
    return new
  }

  /// Returns the value of an edited text. Editors may add a line break at the end or a byte order mark at the
  /// beginning; both are removed if the old value did not have them.
  static func value(
    _ text: borrowing SecretBuffer, editedFrom old: borrowing SecretBuffer, kind: ItemKind?
  ) -> SecretBuffer {
    let hasNewMark = text.withBytes { $0.hasByteOrderMark } && !old.withBytes { $0.hasByteOrderMark }
    var value = text.withBytes { SecretBuffer(copying: $0.extracting(droppingFirst: hasNewMark ? 3 : 0)) }
    // If the old value is empty and its kind may have several lines, nothing tells whether a line break at the end
    // belongs to the new value.
    guard old.count > 0 || kind?.hasOneLine == true, old.finalBreak == 0 else { return value }
    value.truncate(to: value.count - value.finalBreak)
    return value
  }

  /// Returns the current version. A caller that may not find the item learns its version by reading it.
  private func current(_ session: Session) throws(Failure) -> Seen {
    if let item = try session.look(at: name) { return Seen(version: item.version, created: item.created) }
    let version = try session.unlocking { vault in try vault.read(name, expired: command.expired).version }
    return Seen(version: version)
  }

  /// Reports the result; `stored` is nil if the value is unchanged.
  private func report(version: Int, _ stored: Wire.SetReply?) throws(Failure) {
    if command.globals.json {
      try Output.json { object in
        object.add("name", name)
        object.add("version", version)
        object.add("changed", stored != nil)
        object.add("past_expiry", stored?.pastExpiry)
      }
    } else if Keyboard.isAttended {
      Output.note(stored?.sentence(name) ?? "unchanged, so nothing was stored")
    }
  }
}

extension SecretBuffer {
  /// The size in bytes of the line break at the end; 0 if there is none.
  fileprivate var finalBreak: Int {
    withBytes { bytes in
      let text = Span<UInt8>(_bytes: bytes)
      guard let last = text.indices.last, text[last] == 0x0A else { return 0 }
      return last > 0 && text[last - 1] == 0x0D ? 2 : 1
    }
  }
}

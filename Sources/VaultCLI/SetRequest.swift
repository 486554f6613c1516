internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault set` for one item.
struct SetRequest {
  let command: SetCommand
  let name: String
  /// The kind and the attributes as they were given, and then as a person has answered or a value says.
  var kind: String?
  var attributes: [Attribute]
  /// True once what could fail before a person types a secret was done.
  var isChecked = false
  /// The attributes that the text of a network's QR code gave.
  var codedKeys: Set<String> = []

  init(_ command: SetCommand) {
    self.command = command
    name = command.name ?? ""
    kind = command.kind
    attributes = command.attributes
  }

  mutating func run() throws(Failure) {
    try checkNames()
    let session = try Session(command.globals)
    try confirmPastExpiry()
    if let require = command.require { try Proof.confirm(require, session) }
    let stored: Wire.SetReply
    if command.generator.generate != nil || command.keepValue {
      try askForNetwork(session, mayFollow: false)
      stored = try storeWithoutValue(session)
    } else {
      stored = try storeValue(session)
    }
    try report(stored, session)
    if !command.globals.json { tellOfClock(session) }
  }

  /// Says that the item expires sooner than its date says, where the store's newest time is ahead of the clock.
  private func tellOfClock(_ session: Session) {
    guard let expires = command.expires, expires > 0, Keyboard.isAttended,
      let status = try? session.call({ vault in try vault.status() }),
      let warning = status.warnings.first(where: { $0.about == "clock" })
    else { return }
    Output.note(Hint.text(warning.sentence))
  }

  /// Stores what is said about the item, or what the daemon draws for it.
  private func storeWithoutValue(_ session: Session) throws(Failure) -> Wire.SetReply {
    if command.keepValue { try checkIsThere(session) }
    let item = try item(session)
    do throws(Failure) { return try session.unlocking { vault in try vault.set(item) } } catch {
      guard error.exit == .invalid, let style = command.generator.generate, let use = try use(session),
        !GeneratedStyle.keys(for: use).contains(style), let advice = GeneratedStyle.advice(for: use)
      else { throw error }
      throw Failure(error.exit, error.event, advice)
    }
  }

  /// Refuses to keep the value of an item that is not there.
  private func checkIsThere(_ session: Session) throws(Failure) {
    do throws(Failure) { _ = try session.unlocking { vault in try vault.show(name) } } catch {
      // A caller that may set it need not be one that may find it.
      guard error.exit == .denied else { throw error }
    }
  }

  /// The use that the item has, or will have.
  private func use(_ session: Session) throws(Failure) -> KeyUse? {
    if let use = command.use ?? kind.flatMap(ItemKind.init(rawValue:))?.use?.name { return KeyUse(name: use) }
    guard command.update else { return nil }
    return try session.unlocking { vault in try vault.show(name) }.use.flatMap(KeyUse.init(name:))
  }

  /// Before anybody types a secret for them.
  private func checkNames() throws(Failure) {
    do throws(NameError) { _ = try ItemName(name) } catch {
      throw Failure(Fault.invalidName(name: name, reason: error.reason, failed: nil))
    }
    for attribute in attributes {
      do throws(ValueError) { try Attributes.validate([attribute.key: attribute.value]) } catch {
        throw Failure(Fault.invalidValue(kind: "", reason: error.reason, failed: nil))
      }
    }
    guard let known = kind.flatMap(ItemKind.init(rawValue:)) else { return }
    let given = attributes.filter { !$0.value.isEmpty }.map { ($0.key, $0.value) }
    do throws(ValueError) { try known.check(attributes: Dictionary(given) { _, last in last }) } catch {
      throw Failure(Fault.invalidValue(kind: "", reason: error.reason, failed: nil))
    }
  }

  private func report(_ stored: Wire.SetReply, _ session: Session) throws(Failure) {
    if command.globals.json {
      try Output.json { writer in
        writer.beginObject()
        writer.key("name")
        writer.string(name)
        writer.key("version")
        writer.integer(Int64(stored.version))
        if let past = stored.pastExpiry {
          writer.key("past_expiry")
          writer.integer(past)
        }
        writer.endObject()
      }
    } else if Keyboard.isAttended {
      Output.note(stored.sentence(name, isMade: isNew(stored), expires: command.expires))
      // It was said before if it was typed.
      if isNew(stored), !isChecked, let near = nearest(session) { Output.note(near) }
    }
  }

  /// True where an update has made an item.
  private func isNew(_ stored: Wire.SetReply) -> Bool { command.update && !command.keepValue && stored.version == 1 }

  /// The names that this one may be a slip for, in a question.
  private func nearest(_ session: Session) -> String? {
    let item = MissingItem(name: name, location: session.vault.location)
    return Suggestion.text(item.nearest(isStrict: true))
  }

  /// Asks whether an update is to make an item, where another one is nearly called so.
  private func confirmNew(_ session: Session) throws(Failure) {
    guard Keyboard.canAsk, let near = nearest(session) else { return }
    let event = "no item \(Printable.quoted(name))"
    let keyboard = try Keyboard(otherwise: "leave --update out")
    guard try keyboard.confirm("There is \(event) to update; \(near) Make a new item of that name?") else {
      throw Failure(.missing, event, near)
    }
  }

  /// Asks whether an expiry that has passed is meant; nobody would be served the item.
  private func confirmPastExpiry() throws(Failure) {
    guard !command.expired, let expires = command.expires, expires != 0, expires <= Int64(time(nil)) else { return }
    let past = "\(LocalTime.text(expires, to: STDERR_FILENO)) has passed, so the item would not be served"
    try Confirmation(
      consequence: past, question: "\(past). Store it so?",
      advice: "give a later time, or never, or --expired if that is meant"
    ).ask()
  }

  /// The kind that the item will be of.
  func kind(_ session: Session) throws(Failure) -> ItemKind {
    if let kind = kind.flatMap(ItemKind.init(rawValue:)) { return kind }
    if let use = command.use.flatMap(KeyUse.init(name:)) { return use.kind ?? .blob }
    guard command.update else { return .password }
    do throws(Failure) {
      let item = try session.unlocking { vault in try vault.show(name) }
      // One that this program does not know is left alone.
      return ItemKind(rawValue: item.kind) ?? .blob
    } catch {
      guard error.exit == .missing else { throw error }
      return .password
    }
  }

  func item(_ session: Session) throws(Failure) -> Wire.NewItem {
    let generator = command.generator.generate.map { command.generator.recipe($0) }
    return Wire.NewItem(
      name: name, generate: generator, kind: kind, use: command.use, attributes: try attributes(session),
      accessible: command.accessible, require: command.require, reuse: command.reuse.map(Int.init),
      expires: command.expires,
      update: command.update ? true : nil, neverRead: command.neverRead ? true : nil)
  }

  /// All of the item's attributes as they shall be, or nil to leave them as they are.
  private func attributes(_ session: Session) throws(Failure) -> [String: String]? {
    guard !attributes.isEmpty else { return nil }
    var all = command.update ? try attributesThere(session) : [:]
    for attribute in attributes {
      all[attribute.key] = attribute.value.isEmpty && command.update ? nil : attribute.value
    }
    return all
  }

  /// Those that the item has; an item that is not there yet has none to keep.
  func attributesThere(_ session: Session) throws(Failure) -> [String: String] {
    do throws(Failure) {
      return try session.unlocking { vault in try vault.show(name) }.attributes
    } catch {
      guard error.exit == .missing else { throw error }
      return [:]
    }
  }

  /// Does what could fail before a person types a secret: the unlock, whether the name is free, or the item takes a value that is
  /// given, and whether who runs this may store it.
  mutating func checkBeforeAsking(_ session: Session) throws(Failure) {
    if isChecked { return }
    isChecked = true
    try session.unlockIfLocked()
    var item: Wire.Item?
    var isMissing = false
    do throws(Failure) { item = try session.call { vault in try vault.show(name) } } catch {
      // A caller that may set it need not be one that may find it.
      guard error.exit == .missing || error.exit == .denied else { throw error }
      isMissing = error.exit == .missing
    }
    if item != nil, !command.update { throw Failure(Fault.alreadyExists(name: name, failed: nil)) }
    if item == nil, command.update, isMissing { try confirmNew(session) }
    if item?.neverRead == true { throw Failure(Fault.neverRead(name: name)) }
    // The number of requests is for administrators, who may do all.
    guard try session.call({ vault in try vault.status() }).requests == nil else { return }
    var rights = [Right.set]
    if item != nil, changesMoreThanValue { rights.append(.admin) }
    for right in rights where try !session.call({ vault in try vault.can(nil, right.name, name) }) {
      throw Failure(
        Fault.denied(reason: "you may not \(right == .set ? "set" : "change more than the value of") it", request: nil))
    }
  }

  private var changesMoreThanValue: Bool {
    command.kind != nil || command.use != nil || !command.attributes.isEmpty || command.accessible != nil
      || command.require != nil || command.reuse != nil || command.expires != nil
  }
}

extension Wire.SetReply {
  /// What was stored, for a person.
  ///
  /// - Parameters:
  ///   - isMade: whether it was not there to be updated.
  ///   - expires: the time that was given for it, which a date alone leaves open.
  func sentence(_ name: String, isMade: Bool = false, expires: Int64? = nil) -> String {
    let past =
      pastExpiry.map { "; its expiry, \(LocalTime.text($0, to: STDERR_FILENO)), had passed and is removed" } ?? ""
    let end = expires.flatMap { $0 > 0 ? "; it expires at \(LocalTime.text($0, to: STDERR_FILENO))" : nil } ?? ""
    let item = Printable.quoted(name)
    let what = isMade ? "made \(item): it was not there" : "stored \(item), version \(version)"
    return "\(what)\(past)\(end)\(AccessChange.note(openTo))"
  }
}

internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault set` for one item.
struct SetRequest {
  let command: SetCommand
  /// The name: first the given one, then the one that a person answered.
  var name: String
  /// The kind and the attributes: first the given ones, then those that a person answered or that the value states.
  var kind: String?
  var attributes: [Attribute]
  /// True if the value may become the next version of a present item.
  var updates: Bool
  /// True if the item to update was there when the value was asked for.
  var wasThere = false
  /// True once the checks that can fail were made; they come before a person types a secret.
  var isChecked = false
  /// The keys of the attributes that came from the text of a network's QR code.
  var codedKeys: Set<String> = []
  /// True from the time when a person names another kind for a refused value, until the command has asked for what that
  /// kind needs.
  var isOfOtherKind = false

  init(_ command: SetCommand) {
    self.command = command
    name = command.name ?? ""
    kind = command.kind
    attributes = command.attributes
    updates = command.update
  }

  mutating func run() throws(Failure) {
    try checkNames()
    let session = try Session(command.globals)
    session.takesKind = true
    try confirmPastExpiry()
    if let require = command.require { try Proof.confirm(require, session) }
    let stored: Wire.SetReply
    if command.generator.generate != nil || command.keepValue {
      try askForNetwork(session, mayFollow: false)
      stored = try storeWithoutValue(session)
    } else {
      do throws(Failure) { stored = try storeValue(session) } catch { throw namingDeposit(error, session) }
    }
    try report(stored, session)
    if !command.globals.json { tellOfClock(session) }
  }

  /// Says that the item expires sooner than its date suggests, if the store's newest time is ahead of the clock.
  private func tellOfClock(_ session: Session) {
    guard case .time? = command.expires, Keyboard.isAttended,
      let status = try? session.call({ vault in try vault.status() }),
      let warning = status.warnings.first(where: { $0.about == "clock" })
    else { return }
    Output.note(Hint.text(warning.sentence))
  }

  /// The same failure; if the vault is locked and nobody can be asked, with the command that needs no unlock. Before
  /// the first unlock, that command takes values of few items only.
  private func namingDeposit(_ failure: Failure, _ session: Session) -> Failure {
    guard failure.exit == .retry, !Keyboard.canAsk, let advice = failure.advice,
      let status = try? session.call({ vault in try vault.status() }), status.state == "locked"
    else { return failure }
    return Failure(failure.exit, failure.event, "\(advice); \(Hint.vault("deposit")) takes the value meanwhile")
  }

  /// Stores the item's details, and the value that the daemon generates, if one is wanted.
  private func storeWithoutValue(_ session: Session) throws(Failure) -> Wire.SetReply {
    if command.keepValue { try checkIsThere(session) }
    // This check comes before the daemon's own, whose message would be about a value that nobody gave.
    if let style = command.generator.generate, style.isKey || command.use != nil, let use = (try? use(session)) ?? nil,
      !GeneratedStyle.keys(for: use).contains(style)
    {
      throw Failure(
        .invalid, "--generate \(style.rawValue) makes no key for \(use.name)",
        GeneratedStyle.advice(for: use) ?? "give its value")
    }
    let item = try item(session)
    do throws(Failure) { return try session.unlocking { vault in try vault.set(item) } } catch {
      if let style = command.generator.generate {
        let explained = command.generator.options.explained(error, style)
        if explained != error { throw explained }
      }
      guard error.exit == .invalid, let style = command.generator.generate, let use = try use(session),
        !GeneratedStyle.keys(for: use).contains(style), let advice = GeneratedStyle.advice(for: use)
      else { throw error }
      throw Failure(error.exit, error.event, advice)
    }
  }

  /// Refuses to keep the value of a missing item.
  private func checkIsThere(_ session: Session) throws(Failure) { _ = try session.look(at: name) }

  /// The use that the item has or will have; nil also if the caller may not find the item.
  private func use(_ session: Session) throws(Failure) -> KeyUse? {
    if let use = command.use ?? kind.flatMap(ItemKind.init(rawValue:))?.use?.name { return KeyUse(name: use) }
    guard updates else { return nil }
    return try session.look(at: name)?.use.flatMap(KeyUse.init(name:))
  }

  /// Checks the names before anybody types a secret for them.
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
      try Output.json { object in
        object.add("name", name)
        object.add("version", stored.version)
        object.add("past_expiry", stored.pastExpiry)
      }
    } else if Keyboard.isAttended {
      Output.note(
        stored.sentence(name, isMade: isNew(stored), isKept: command.keepValue, expires: command.expires?.wire))
      // If the value was typed, the suggestion came before it.
      if isNew(stored), !isChecked, let near = nearest(session) { Output.note(near) }
    }
  }

  /// Returns true if an update made a new item.
  private func isNew(_ stored: Wire.SetReply) -> Bool { updates && !command.keepValue && stored.version == 1 }

  /// A question with similar names, of which this name may be a misspelling, or a note on a name that looks the same;
  /// nil if there are none.
  private func nearest(_ session: Session) -> String? {
    let item = MissingItem(name: name, location: session.vault.location)
    return Suggestion.text(item.nearest(isStrict: true), insteadOf: name)
  }

  /// Asks whether an update may make an item, if another item has a similar name.
  private func confirmNew(_ session: Session) throws(Failure) {
    guard Keyboard.canAsk, let near = nearest(session) else { return }
    let event = "no item \(Printable.quoted(name))"
    let keyboard = try Keyboard(otherwise: "leave --update out")
    let hint = near.hasSuffix("?") ? near : near + "."
    guard try keyboard.confirm("There is \(event) to update; \(hint) Make a new item of that name?") else {
      throw Failure(.missing, event, near)
    }
  }

  /// Asks whether a text with a `=` is meant as the name: other programs take a name and a value in that form.
  private func confirmEquals() throws(Failure) {
    let event = "the name \(Printable.quoted(name)) has a = in it"
    try Confirmation(
      consequence: event, question: "\(event), and nothing in it is taken as the value. Make an item of that name?"
    ).ask()
  }

  /// Asks whether an expiry in the past is intended: nobody would be served the item.
  private func confirmPastExpiry() throws(Failure) {
    guard !command.expired, case .time(let expires)? = command.expires, expires <= Int64(time(nil)) else { return }
    let past = "\(LocalTime.text(expires, to: STDERR_FILENO)) has passed, so the item would not be served"
    try Confirmation(
      consequence: past, question: "\(past). Store it anyway?",
      advice: "give a later time, or never, or --expired to store it anyway"
    ).ask()
  }

  /// Returns the kind that the item will have. A present item that the caller may not find counts as a password, as
  /// for a deposit.
  func kind(_ session: Session) throws(Failure) -> ItemKind {
    if let kind = kind.flatMap(ItemKind.init(rawValue:)) { return kind }
    if let use = command.use.flatMap(KeyUse.init(name:)) { return use.kind ?? .blob }
    guard updates else { return .password }
    do throws(Failure) {
      guard let item = try session.look(at: name) else { return .password }
      // A kind that this program does not know is kept: its value is treated as any bytes.
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
      expires: command.expires?.wire,
      update: updates ? true : nil, neverRead: command.neverRead ? true : nil)
  }

  /// Returns all attributes that the item will have; nil leaves them as they are.
  private func attributes(_ session: Session) throws(Failure) -> [String: String]? {
    guard !attributes.isEmpty else { return nil }
    var all = updates ? try attributesThere(session) : [:]
    let network = all[Self.ssid]
    for attribute in attributes {
      all[attribute.key] = attribute.value.isEmpty && updates ? nil : attribute.value
    }
    forgetOtherNetwork(in: &all, earlier: network)
    return all
  }

  /// Returns the item's present attributes; a missing item has none.
  ///
  /// - Throws: also if the caller may not find the item, because attributes that nobody sees cannot be kept.
  func attributesThere(_ session: Session) throws(Failure) -> [String: String] {
    do throws(Failure) {
      guard let item = try session.look(at: name) else {
        let reason = "you may not find it, and --attr with --update keeps the other attributes"
        throw Failure(Fault.denied(reason: reason, request: nil))
      }
      return item.attributes
    } catch {
      guard error.exit == .missing else { throw error }
      return [:]
    }
  }

  /// Makes the checks that can fail before a person types a secret: unlocks the vault, checks that the name is free or
  /// that the item takes a given value, and checks that the caller may store it.
  mutating func checkBeforeAsking(_ session: Session) throws(Failure) {
    if isChecked { return }
    isChecked = true
    try session.unlockIfLocked()
    var item: Wire.Item?
    var isMissing = false
    do throws(Failure) { item = try session.look(at: name) } catch {
      guard error.exit == .missing else { throw error }
      isMissing = true
    }
    if item != nil, !updates { throw Failure(Fault.alreadyExists(name: name, failed: nil)) }
    if item == nil, updates, isMissing { try confirmNew(session) }
    wasThere = item != nil
    if item == nil, name.contains("="), Keyboard.canAsk { try confirmEquals() }
    if item?.neverRead == true { throw Failure(neverRead: name, use: item?.use.flatMap(KeyUse.init(name:))) }
    // Only administrators see the number of requests, and they may do everything.
    guard try session.call({ vault in try vault.status() }).requests == nil else { return }
    var rights = [Right.set]
    if item != nil, changesMoreThanValue { rights.append(.admin) }
    for right in rights where try !session.call({ vault in try vault.can(nil, right.name, name) }) {
      throw Failure(
        Fault.denied(reason: "you may not \(right == .set ? "set" : "change more than the value of") it", request: nil))
    }
  }

  /// True if the command line has something for the item beside the value.
  var changesMoreThanValue: Bool {
    command.kind != nil || command.use != nil || !command.attributes.isEmpty || command.accessible != nil
      || command.require != nil || command.reuse != nil || command.expires != nil
  }
}

extension Wire.SetReply {
  /// A sentence for a person about the stored item.
  ///
  /// - Parameters:
  ///   - isMade: whether an update made the item because it was missing.
  ///   - isKept: whether the value stayed as it is.
  ///   - expires: the expiry that was given, in Unix seconds. A date alone does not tell the time of day, so the
  ///     sentence does.
  func sentence(_ name: String, isMade: Bool = false, isKept: Bool = false, expires: Int64? = nil) -> String {
    let past =
      pastExpiry.map { "; its expiry, \(LocalTime.text($0, to: STDERR_FILENO)), had passed and is removed" } ?? ""
    var end = ""
    if let expires, expires > 0 {
      let verb = expires <= Int64(time(nil)) ? "expired" : "expires"
      end = "; it \(verb) at \(LocalTime.text(expires, to: STDERR_FILENO))"
    }
    let item = Printable.quoted(name)
    let what =
      isMade
      ? "made \(item): it did not exist"
      : isKept ? "changed \(item); its value stays, version \(version)" : "stored \(item), version \(version)"
    return "\(what)\(past)\(end)\(AccessChange.note(openTo))"
  }
}

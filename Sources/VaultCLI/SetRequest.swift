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
    let stored: Wire.SetReply
    if command.generator.generate != nil || command.keepValue {
      try askForNetwork(session)
      let item = try item(session)
      stored = try session.unlocking { vault in try vault.set(item) }
    } else {
      stored = try storeValue(session)
    }
    try report(stored)
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
  }

  private func report(_ stored: Wire.SetReply) throws(Failure) {
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
      Output.note(stored.sentence(name))
    }
  }

  /// Asks whether an expiry that has passed is meant; nobody would be served the item.
  private func confirmPastExpiry() throws(Failure) {
    guard let expires = command.expires, expires != 0, expires <= Int64(time(nil)) else { return }
    let past = Failure(
      .usage, "\(LocalTime.text(expires, to: STDERR_FILENO)) has passed, so the item would not be served",
      "give a later time, or never")
    guard Keyboard.isAttended else { throw past }
    let keyboard = try Keyboard(otherwise: "give a later time")
    guard try keyboard.confirm("\(past.event). Store it so?") else { throw past }
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
      update: command.update ? true : nil)
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

  /// Does what could fail before a person types a secret: the unlock, and whether the name is free.
  mutating func checkBeforeAsking(_ session: Session) throws(Failure) {
    if isChecked { return }
    isChecked = true
    try session.unlockIfLocked()
    guard !command.update else { return }
    do throws(Failure) {
      _ = try session.call { vault in try vault.show(name) }
    } catch {
      guard error.exit == .missing else { throw error }
      return
    }
    throw Failure(Fault.alreadyExists(name: name, failed: nil))
  }
}

extension Wire.SetReply {
  /// What was stored, for a person.
  func sentence(_ name: String) -> String {
    let past =
      pastExpiry.map { "; its expiry, \(LocalTime.text($0, to: STDERR_FILENO)), had passed and is removed" } ?? ""
    return "stored \(Printable.quoted(name)), version \(version)\(past)\(AccessChange.note(openTo))"
  }
}

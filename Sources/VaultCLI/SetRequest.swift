internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault set` for one item.
struct SetRequest {
  let command: SetCommand
  let name: String

  init(_ command: SetCommand) {
    self.command = command
    name = command.name ?? ""
  }

  func run() throws(Failure) {
    do throws(NameError) { _ = try ItemName(name) } catch {
      // Before anybody types a secret for it.
      throw Failure(Fault.invalidName(name: name, reason: error.reason, failed: nil))
    }
    let session = try Session(command.globals)
    try confirmPastExpiry()
    let value = try value(session)
    let item = try item(session)
    let stored = try session.unlocking { vault in
      switch value {
      case .some(let value): try vault.set(item, value: value)
      case .none: try vault.set(item)
      }
    }
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

  /// The value to store; nil when the daemon draws or keeps it.
  private func value(_ session: Session) throws(Failure) -> SecretBuffer? {
    if command.generator.generate != nil || command.keepValue { return nil }
    return try ValueInput(name: name, file: command.file, isExact: command.exact).read(
      kind: { () throws(Failure) in try kind(session) },
      beforeAsking: { () throws(Failure) in try checkBeforeAsking(session) })
  }

  /// The kind that the item will be of.
  private func kind(_ session: Session) throws(Failure) -> ItemKind {
    if let kind = command.kind.flatMap(ItemKind.init(rawValue:)) { return kind }
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

  private func item(_ session: Session) throws(Failure) -> Wire.NewItem {
    let generator = command.generator.generate.map { command.generator.recipe($0) }
    return Wire.NewItem(
      name: name, generate: generator, kind: command.kind, use: command.use, attributes: try attributes(session),
      accessible: command.accessible, require: command.require, reuse: command.reuse.map(Int.init),
      expires: command.expires,
      update: command.update ? true : nil)
  }

  /// All of the item's attributes as they shall be, or nil to leave them as they are.
  private func attributes(_ session: Session) throws(Failure) -> [String: String]? {
    guard !command.attributes.isEmpty else { return nil }
    var attributes: [String: String] = [:]
    if command.update {
      do throws(Failure) {
        attributes = try session.unlocking { vault in try vault.show(name) }.attributes
      } catch {
        // An item that is not there yet has none to keep.
        guard error.exit == .missing else { throw error }
      }
    }
    for attribute in command.attributes {
      attributes[attribute.key] = attribute.value.isEmpty && command.update ? nil : attribute.value
    }
    return attributes
  }

  /// Does what could fail before a person types a secret: the unlock, and whether the name is free.
  private func checkBeforeAsking(_ session: Session) throws(Failure) {
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

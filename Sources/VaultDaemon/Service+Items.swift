internal import NIOCore
internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Get, Set, SetMany, Show, Delete, Move and History.
extension Service {
  func get(_ call: Wire.GetParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    if plaintext.isFull, isLarge(call.name, keychain) {
      let turn = Waiter { [weak self, weak connection] in
        guard let self, let connection else { return }
        get(call, connection)
      }
      connection.hold { turn.cancel() }
      return plaintext.whenRoom { turn.go() }
    }
    do throws(Fault) {
      let name = try Self.itemName(call.name)
      let version = try Self.version(call.version)
      do {
        try keychain.withValue(of: name, version: version, now: clock.wall(), evenExpired: call.expired ?? false) {
          item, version, value throws(Fault) in
          guard item.policy.require == .none else {
            throw .methodUnavailable(
              method: item.policy.require.name, reason: "this program cannot ask for it, and the item requires it")
          }
          connection.reply { writer in
            writer.key("name")
            writer.string(name.text)
            writer.key("version")
            writer.integer(Int64(version))
            writer.value(value)
          }
        }
      } catch let fault as Fault {
        throw fault
      } catch let error as VaultError {
        throw fault(error, name: name.text)
      } catch {
        throw .storageFailed(reason: "\(error)")
      }
    } catch {
      if case .locked = error, let wait = call.waitMS, wait > 0 { return self.wait(wait, call, connection) }
      connection.fail(error)
    }
  }

  /// Holds a call until the vault is unlocked or the time is up.
  private func wait(_ milliseconds: Int64, _ call: Wire.GetParameters, _ connection: Connection) {
    let id = ObjectIdentifier(connection)
    var again = call
    again.waitMS = nil
    let waiter = Waiter { [weak self, weak connection] in
      guard let self, let connection else { return }
      get(again, connection)
    }
    waiter.timeout = connection.after(.milliseconds(min(milliseconds, 86_400_000))) { [weak self, weak connection] in
      self?.waiters[id] = nil
      connection?.fail(.timedOut)
    }
    waiters[id] = waiter
    connection.hold { [weak self] in
      waiter.cancel()
      self?.waiters[id] = nil
    }
  }

  private func isLarge(_ name: String, _ keychain: Keychain) -> Bool {
    guard let name = try? ItemName(name), let item = try? keychain.item(named: name) else { return false }
    return item.versions.contains { $0.size > Plaintext.small / 2 }
  }

  func set(_ call: Wire.SetParameters, _ frame: borrowing Frame, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    do throws(Fault) {
      let stored = try store(call.item, frame, keychain, failed: nil)
      changed(stored)
      connection.reply { writer in
        writer.key("version")
        writer.integer(Int64(stored.version))
      }
    } catch {
      connection.fail(error)
    }
  }

  func setMany(_ call: Wire.SetManyParameters, _ frame: borrowing Frame, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    var stored: [Stored] = []
    do {
      // The items are read out of the frame inside the transaction, so one value at a time is in the clear.
      try keychain.transaction { () throws(Fault) in
        for (index, item) in call.items.enumerated() {
          stored.append(try store(item, frame, keychain, failed: Int64(index)))
        }
      }
    } catch let fault as Fault {
      return connection.fail(fault)
    } catch let error as VaultError {
      return connection.fail(Fault(error))
    } catch {
      return connection.fail(.storageFailed(reason: "\(error)"))
    }
    for one in stored { changed(one) }
    connection.reply { writer in
      writer.key("versions")
      writer.beginArray()
      for one in stored { writer.integer(Int64(one.version)) }
      writer.endArray()
    }
  }

  func show(_ call: Wire.ShowParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      let item = try item(call.name, keychain)
      connection.reply { writer in
        writer.key("item")
        Wire.Item(item).write(to: &writer)
      }
    }
  }

  func history(_ call: Wire.HistoryParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      let item = try item(call.name, keychain)
      connection.reply { writer in
        writer.key("versions")
        writer.beginArray()
        for version in item.versions.reversed() {
          Wire.Version(version, isCurrent: version.number == item.current.number).write(to: &writer)
        }
        writer.endArray()
      }
    }
  }

  func delete(_ call: Wire.DeleteParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      var names: [ItemName] = []
      for name in call.names { names.append(try Self.itemName(name)) }
      do throws(VaultError) { try keychain.delete(names) } catch {
        // Which one is missing is worth a second look.
        throw fault(error, name: names.first { (try? keychain.item(named: $0)) == nil }?.text ?? "")
      }
      connection.reply { _ in }
      for name in names { announceItem(name, .deleted) }
    }
  }

  func move(_ call: Wire.MoveParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      let from = try Self.itemName(call.from)
      let to = try Self.itemName(call.to)
      do throws(VaultError) { try keychain.move(from: from, to: to, now: clock.wall()) } catch {
        throw fault(error, name: error == .alreadyExists ? to.text : from.text)
      }
      connection.reply { _ in }
      announceItem(from, .moved, to: to)
    }
  }

  // MARK: Parts

  private func item(_ name: String, _ keychain: Keychain) throws(Fault) -> ItemInfo {
    let name = try Self.itemName(name)
    do throws(VaultError) { return try keychain.item(named: name) } catch { throw fault(error, name: name.text) }
  }

  private func withKeychain(
    _ connection: Connection, _ interactive: Bool?, _ body: (Keychain) throws(Fault) -> Void
  ) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(interactive, connection)
    do throws(Fault) { try body(keychain) } catch { connection.fail(error) }
  }

  /// An item that was stored.
  struct Stored {
    var name: ItemName
    var version: Int
    var isNew: Bool
  }

  private func changed(_ stored: Stored) { announceItem(stored.name, stored.isNew ? .created : .updated) }

  private func store(
    _ item: Wire.NewItem, _ frame: borrowing Frame, _ keychain: Keychain, failed: Int64?
  ) throws(Fault) -> Stored {
    let change = try ItemChange(item, failed: failed)
    do throws(VaultError) {
      let isNew: Bool
      let version: Int
      switch try Self.value(of: item, frame) {
      case .absent: (version, isNew) = try keychain.set(change, value: nil, now: clock.wall())
      case .invalid: throw .invalidValue("give one of value, data (base64) and generate")
      case .bytes(let value): (version, isNew) = try keychain.set(change, value: value, now: clock.wall())
      }
      return Stored(name: change.name, version: version, isNew: isNew)
    } catch {
      throw fault(error, name: change.name.text, kind: item.kind, failed: failed)
    }
  }

  /// The value that a call brings, or the one it wants drawn.
  private static func value(of item: Wire.NewItem, _ frame: borrowing Frame) throws(VaultError) -> SecretField {
    guard let generate = item.generate else { return SecretField(item.value, item.data, frame) }
    guard item.value == nil, item.data == nil else { return .invalid }
    do throws(CryptoError) {
      let length = generate.length.map { Int(clamping: $0) }
      switch generate.style {
      case "password":
        return .bytes(try SecretGenerator.password(length: length ?? 24, symbols: generate.symbols ?? true))
      case "phrase": return .bytes(try SecretGenerator.phrase(words: length ?? 6))
      default: throw CryptoError.limits("generate a password or a phrase")
      }
    } catch {
      throw .invalidValue(error.reason)
    }
  }

  static func itemName(_ text: String, failed: Int64? = nil) throws(Fault) -> ItemName {
    do throws(NameError) { return try ItemName(text) } catch {
      throw .invalidName(name: text, reason: error.reason, failed: failed)
    }
  }

  private static func version(_ number: Int64?) throws(Fault) -> Int? {
    guard let number else { return nil }
    guard let version = Int(exactly: number), version > 0 else { throw .service(.invalidParameter("version")) }
    return version
  }
}

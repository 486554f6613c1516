internal import NIOCore
internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Get, Show, History, Delete and Move.
extension Service {
  /// - Parameter inTurn: whether it has waited for its turn, and there is room for a large value.
  func get(_ call: Wire.GetParameters, _ connection: Connection, inTurn: Bool = false) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    let process = connection.peer.pid
    if !inTurn, turns.isSpent || plaintext.mustWait(process), isLarge(call.name, keychain) {
      let turn = Waiter { [weak self, weak connection] in
        guard let self, let connection else { return }
        getLater(call, connection, inTurn: true)
      }
      let number = plaintext.wait(process, turn)
      return connection.hold { [weak self] in self?.plaintext.remove(number) }
    }
    do throws(Fault) {
      let name = try Self.itemName(call.name)
      if let version = call.version, version < 1 { throw .invalid("version") }
      var requirement = Requirement.none
      var content: ReplyContent = []
      func decide(_ item: ItemInfo) -> Bool {
        requirement = item.policy.require
        content = ReplyContent(item.policy.accessible)
        return isAuthorized(item.policy, connection)
      }
      do {
        try keychain.withValue(
          of: name, version: call.version, now: clock.wall(), evenExpired: call.expired ?? false,
          if: decide
        ) { _, version, value in
          let reply = Wire.GetReply(name: name.text, version: version)
          connection.reply(content: content) { writer in reply.write(to: &writer, content: value) }
        }
      } catch VaultError.notAllowed {
        throw .presenceRequired(name: name.text, require: requirement.name)
      } catch let error as VaultError {
        throw fault(error, name: name.text)
      } catch {
        throw .storageFailed(reason: "\(error)")
      }
    } catch {
      if case .locked = error, vault.isAwaitingBootKey { return waitForBootKey(call, connection) }
      if case .locked = error, let wait = call.waitMilliseconds, wait > 0 { return self.wait(wait, call, connection) }
      connection.fail(error)
    }
  }

  /// Answers a call that had to wait, if its process did so too.
  func getLater(_ call: Wire.GetParameters, _ connection: Connection, inTurn: Bool = false) {
    if connection.isPeerAlive { get(call, connection, inTurn: inTurn) } else { connection.disown() }
  }

  /// Holds a call until the vault is unlocked or the time is up.
  private func wait(_ milliseconds: Int, _ call: Wire.GetParameters, _ connection: Connection) {
    var again = call
    again.waitMilliseconds = nil
    let waiter = Waiter { [weak self, weak connection] in
      guard let self, let connection else { return }
      getLater(again, connection)
    }
    let number = waiters.add(waiter)
    waiter.timeout = connection.after(.milliseconds(Int64(min(milliseconds, 86_400_000)))) {
      [weak self, weak connection] in
      self?.waiters.remove(number)
      connection?.fail(.timedOut)
    }
    connection.hold { [weak self] in self?.waiters.remove(number) }
  }

  private func isLarge(_ name: String, _ keychain: Keychain) -> Bool {
    guard let name = try? ItemName(name), let item = try? keychain.item(named: name) else { return false }
    return item.versions.contains { $0.size > Plaintext.small / 2 }
  }

  func show(_ call: Wire.ShowParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      let item = try item(call.name, keychain)
      connection.reply(Wire.ShowReply(item: Wire.Item(item)))
    }
  }

  func history(_ call: Wire.HistoryParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      let item = try item(call.name, keychain)
      let versions = item.versions.reversed().map { Wire.Version($0, isCurrent: $0.number == item.current.number) }
      connection.reply(Wire.HistoryReply(versions: versions))
    }
  }

  func delete(_ call: Wire.DeleteParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      try CallWeight.check(count: call.names.count)
      var names: [ItemName] = []
      for name in call.names { names.append(try Self.itemName(name)) }
      var weight = CallWeight()
      for name in Set(names) {
        weight.add(name, nil)
        if let old = try? keychain.item(named: name) { weight.add(old: old) }
      }
      try weight.check()
      do throws(VaultError) { try keychain.delete(names) } catch {
        // Which one is missing is worth a second look.
        throw fault(error, name: names.first { (try? keychain.item(named: $0)) == nil }?.text ?? "")
      }
      connection.reply(Wire.Empty())
      for name in names { announceItem(name, .deleted) }
    }
  }

  func move(_ call: Wire.MoveParameters, _ connection: Connection) {
    withKeychain(connection, call.interactive) { keychain throws(Fault) in
      let from = try Self.itemName(call.source)
      let to = try Self.itemName(call.target)
      do throws(VaultError) { try keychain.move(from: from, to: to, now: clock.wall()) } catch {
        throw fault(error, name: error == .alreadyExists ? to.text : from.text)
      }
      connection.reply(Wire.Empty())
      announceItem(from, .moved, to: to)
    }
  }

  // MARK: Parts

  func item(_ name: String, _ keychain: Keychain) throws(Fault) -> ItemInfo {
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

  static func itemName(_ text: String, failed: Int? = nil) throws(Fault) -> ItemName {
    do throws(NameError) { return try ItemName(text) } catch {
      throw .invalidName(name: text, reason: error.reason, failed: failed)
    }
  }
}

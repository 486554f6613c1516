internal import NIOCore
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The Varlink socket's door to the vault: turns calls into those of the rooms, and their answers into replies.
///
/// It has no rule of its own. Its methods are in extensions, one file for each room.
final class VarlinkDoor {
  let loop: any EventLoop
  let vault: Vault
  let items: Items
  let access: Access
  let ways: WaysIn
  let upkeep: Upkeep
  let attendance: Attendance
  let clients: Clients
  /// The turns by which the loop is shared among the clients.
  let turns: Turns
  /// The events that those who watch are still to be told. It has turns of its own: a lock is told of before the work
  /// that waits.
  let events: Events
  /// The large replies that wait for their clients.
  let plaintext: Plaintext
  let timer: Timer
  /// Its own thread, so that an unlock never waits for a backup.
  let transferThread: any Worker
  /// Another one, for clients that do not read how a transfer ended.
  let lastWordThread: any Worker
  /// The conversations that clients may answer, by what they are called on the wire.
  var conversations: [String: Conversation] = [:]
  /// What watchers have said that a person is to see to.
  var notices = WatcherNotices()
  /// The events that lock the vault beside its deadlines.
  var triggers: LockTriggers?
  /// What is wrong with the settings that were to be read last, while older ones count.
  var refusedSettings: () -> VaultWarning? = { nil }
  /// Has the settings read again for a caller.
  var reload: (VaultService.Caller) throws(Refusal) -> SettingsFile.Change = { (_) throws(Refusal) in
    throw .busy("the daemon starts")
  }
  /// The state of the ssh-agent, for a caller; nil of the machine's vault.
  var sshAgent: (VaultService.Caller) -> Wire.SSHAgent? = { _ in nil }

  init(
    loop: any EventLoop, _ rooms: Rooms, _ clients: Clients, turns: Turns, timer: Timer, transferThread: any Worker,
    lastWordThread: any Worker
  ) {
    self.loop = loop
    vault = rooms.vault
    items = rooms.items
    access = rooms.access
    ways = rooms.waysIn
    upkeep = rooms.upkeep
    attendance = rooms.attendance
    self.clients = clients
    self.turns = turns
    self.timer = timer
    self.transferThread = transferThread
    self.lastWordThread = lastWordThread
    turns.between = { [unowned clients] in clients.lookAround(beside: nil, amongEvents: false) }
    events = Events(in: Turns(on: loop, clock: vault.clock, length: Turns.telling), vault.holders)
    events.recent.hidesNames = { [unowned vault] in vault.settings.hideNames && vault.state.kind != .unlocked }
    plaintext = Plaintext(in: turns, now: vault.clock.monotonic, after: { delay, work in _ = timer.after(delay, work) })
    vault.hooks.accessChanged = { [events, attendance] in
      events.reconsider()
      attendance.reconsider()
    }
    // A lock wipes the stack below itself. What earlier calls have left where those stand that led to it goes when they are done.
    vault.hooks.afterwards = { [loop] work in loop.assumeIsolated().execute(work) }
    vault.hooks.announce = { [events, vault, attendance] in
      events.announce($0, at: vault.clock.wall())
      attendance.happened($0)
    }
  }

  /// Answers one call, now or by holding the connection.
  func handle(_ call: Call, _ frame: borrowing Frame, from connection: VarlinkConnection) throws(ParameterError) {
    guard let method = MethodName(frame, call.method) else {
      return connection.fail(Fault.unknownMethod(frame.string(call.method) ?? ""))
    }
    vault.checkDeadlines()
    defer { upkeep.foldLogLater() }
    do throws(Refusal) { try vault.audit.begin(method.terms, for: connection.caller) } catch {
      isAbout(method, call, frame, connection)
      return connection.fail(error)
    }
    guard call.more || !method.needsMore else { return connection.fail(Fault.service(.expectedMore)) }
    guard call.upgrade || !method.needsUpgrade else { return connection.fail(Refusal.invalid("upgrade")) }
    do throws(Refusal) { try access.check(method.audience, connection.caller) } catch {
      return connection.fail(error)
    }
    (connection.current.streams, connection.current.content) = (call.more, method.content)
    try handle(method, frame, call.parameters, connection)
  }

  /// Records a call that is refused before it is handled; false of one that has begun, and of what is no call.
  func refuses(_ frame: borrowing Frame, with refusal: Refusal, from connection: VarlinkConnection) -> Bool {
    guard let call = try? Call(frame), let method = MethodName(frame, call.method) else { return false }
    return vault.audit.refuses(method.terms, with: refusal.outcome, for: connection.caller) {
      isAbout(method, call, frame, connection)
    }
  }

  /// Names the item of a call that is not handled, for its entry.
  private func isAbout(
    _ method: MethodName, _ call: Call, _ frame: borrowing Frame, _ connection: VarlinkConnection
  ) {
    guard let name = call.parameters.flatMap({ frame.member("name", of: $0) }).flatMap({ frame.string($0) }) else {
      return
    }
    vault.audit.isAbout(.call, name, detail: "\(method.fullName)", for: connection.caller)
  }

  /// Does what a call asks for, and refuses it when that is what comes of it.
  func answer(_ connection: VarlinkConnection, _ body: () throws(Refusal) -> Void) {
    do throws(Refusal) { try body() } catch { connection.fail(error) }
  }

  /// The same for what is asked of a vault's content: where there is none, that is the answer, whatever the parameters.
  func answerFromVault(_ connection: VarlinkConnection, _ body: () throws(Refusal) -> Void) {
    answer(connection) { () throws(Refusal) in
      try vault.checkStore()
      try body()
    }
  }

  /// Takes note that a person may be asking, where it is one that may ask for anything: nobody else keeps the vault from locking.
  func note(_ interactive: Bool?, _ reason: String?, _ connection: VarlinkConnection) -> Said {
    let said = Said(purpose: reason, isInteractive: interactive)
    if access.hasAny(connection.caller) { vault.asks(connection.caller, said) }
    return said
  }

  static func itemName(_ text: String) throws(Refusal) -> ItemName {
    do throws(NameError) { return try ItemName(text) } catch { throw .invalidName(text, reason: error.reason) }
  }
}

// MARK: org.varlink.service

extension VarlinkDoor: MethodHandler {
  func getInfo(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    connection.reply(
      Wire.GetInfoReply(
        vendor: "io.vaultd", product: "vault", version: Version.text, url: "",
        interfaces: [ServiceInterface.name, VaultInterface.name]))
  }

  func getInterfaceDescription(
    _ call: Wire.GetInterfaceDescriptionParameters, _: borrowing Frame, _ connection: VarlinkConnection
  ) {
    switch call.interface {
    case VaultInterface.name:
      connection.reply(Wire.GetInterfaceDescriptionReply(description: "\(VaultInterface.description)"))
    case ServiceInterface.name:
      connection.reply(Wire.GetInterfaceDescriptionReply(description: "\(ServiceInterface.description)"))
    default: connection.fail(Fault.service(.interfaceNotFound(interface: call.interface)))
    }
  }
}

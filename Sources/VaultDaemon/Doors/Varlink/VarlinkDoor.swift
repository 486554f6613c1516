internal import NIOCore
internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultProcess
internal import VaultService
internal import VaultWire

/// The Varlink socket's door to the vault: turns Varlink calls into calls of the service, and the results into replies.
///
/// It has no rules of its own. Its methods are in extensions, one file for each part of the service.
final class VarlinkDoor {
  let loop: any EventLoop
  let vault: Vault
  let items: Items
  let access: Access
  let ways: WaysIn
  let upkeep: Upkeep
  let attendance: Attendance
  let asking: Asking
  let clients: Clients
  let entrance: Entrance<VarlinkConnection>
  /// The turns in which the clients share the loop.
  let turns: Turns
  /// The events that are still to be sent to watchers. They have separate turns, so that a lock is announced before
  /// waiting work continues.
  let events: Events
  /// The large replies that wait for their clients.
  let plaintext: Plaintext
  let timer: Timer
  /// Its own thread, so that an unlock never waits for a backup.
  let transferThread: any Worker
  /// A separate thread, for clients that do not read the result of a transfer.
  let lastWordThread: any Worker
  /// The conversations that clients may answer, by their ids.
  var conversations: [String: Conversation] = [:]
  /// The watchers' notices about things that a person must see to.
  var notices = WatcherNotices()
  /// Makes the memory for ``names``. Tests put in another function.
  var makeNames: () -> AccountNames = { AccountNames() }
  private var latestNames: (names: AccountNames, end: Int64)?
  /// The events that lock the vault besides the vault's deadlines; nil until the daemon listens for them.
  var triggers: LockTriggers?
  /// The problem with the settings when they were last read, while older ones stay in effect.
  var refusedSettings: () -> VaultWarning? = { nil }
  /// The reason why the vault must not be unlocked; nil if there is none.
  var obstacle: () -> String? = { nil }
  /// Reads the settings again for a caller.
  var reload: (VaultService.Caller) throws(Refusal) -> SettingsFile.Change = { (_) throws(Refusal) in
    throw .busy("the daemon is starting")
  }
  /// The state of the ssh-agent, for a caller; nil for the machine's vault.
  var sshAgent: (VaultService.Caller) -> Wire.SSHAgent? = { _ in nil }
  /// Returns false if the ssh-agent's keys must be read before they are counted, and then runs the closure after that.
  var canCountKeys: (Line, @escaping () -> Void) -> Bool = { _, _ in true }
  /// The Secret Service, for the methods about its name on the bus; nil for the machine's vault.
  weak var secrets: SecretServiceDoor?

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
    (attendance, asking) = (rooms.attendance, rooms.asking)
    self.clients = clients
    entrance = Entrance(clients, .oneGivesWay) { [unowned clients] in clients.most }
    self.turns = turns
    self.timer = timer
    self.transferThread = transferThread
    self.lastWordThread = lastWordThread
    turns.between = { [unowned clients] in clients.lookAround(beside: nil, amongEvents: false) }
    events = Events(in: Turns(on: loop, clock: vault.clock, length: Turns.telling), vault.holders)
    events.recent.hidesNames = { [unowned vault] in vault.settings.hideNames && vault.state.kind != .unlocked }
    plaintext = Plaintext(in: turns, now: vault.clock.monotonic, after: { delay, work in _ = timer.after(delay, work) })
    vault.hooks.accessChanged = { [unowned events, unowned attendance] in
      events.reconsider()
      attendance.reconsider()
    }
    // A lock wipes the stack below its own frame. The frames of the calls that led to the lock may cover bytes of
    // earlier calls. Those bytes are wiped after these frames have returned.
    vault.hooks.afterwards = { [loop] work in loop.assumeIsolated().execute(work) }
    vault.hooks.announce = { [unowned events, unowned vault, unowned attendance] in
      events.announce($0, at: vault.clock.wall())
      attendance.happened($0)
    }
  }

  /// The names of users and groups for replies and events. Each name is looked up at most once a second, however many
  /// requests, inquiries and agents there are.
  var names: AccountNames {
    let now = vault.clock.monotonic()
    if let (names, end) = latestNames, now < end { return names }
    let names = makeNames()
    latestNames = (names, now + Self.memory)
    return names
  }

  /// The time for which names are remembered, in nanoseconds.
  private static let memory: Int64 = 1_000_000_000

  /// Answers one call, now or by holding the connection.
  func handle(_ call: Call, _ frame: borrowing Frame, from connection: VarlinkConnection) throws(ParameterError) {
    guard let method = MethodName(frame, call.method) else {
      return connection.fail(Fault.unknownMethod(frame.string(call.method) ?? ""))
    }
    vault.checkDeadlines()
    defer { upkeep.foldLogLater() }
    do throws(Refusal) { try vault.audit.begin(method.terms, for: connection.caller) } catch {
      isAbout(method, call, frame, connection.caller)
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

  /// Records a call that is refused before it is handled; false for a call that has begun, and for a frame that is not
  /// a call.
  func refuses(_ frame: borrowing Frame, with refusal: Refusal, for caller: VaultService.Caller) -> Bool {
    guard let call = try? Call(frame), let method = MethodName(frame, call.method) else { return false }
    return vault.audit.refuses(method.terms, with: refusal.outcome, for: caller) {
      isAbout(method, call, frame, caller)
    }
  }

  /// Records the refusal of an incomplete call; false if an earlier call is still handled.
  func refusesPart(with refusal: Refusal, from connection: VarlinkConnection) -> Bool {
    let terms = CallTerms("an incomplete call", needs: .log, entry: .first)
    return vault.audit.refuses(terms, with: refusal.outcome, for: connection.caller) {}
  }

  /// Names the item of a call that is not handled, for its entry.
  private func isAbout(
    _ method: MethodName, _ call: Call, _ frame: borrowing Frame, _ caller: VaultService.Caller
  ) {
    guard let name = call.parameters.flatMap({ Self.firstName($0, frame) }) else { return }
    vault.audit.isAbout(.call, name, detail: "\(method.fullName)", for: caller)
  }

  /// The name of the first item that a call names, in any of the ways in which methods name items.
  private static func firstName(_ parameters: Frame.Node, _ frame: borrowing Frame) -> String? {
    if let name = frame.member("name", of: parameters) ?? frame.member("from", of: parameters) {
      return frame.string(name)
    }
    if let names = frame.member("names", of: parameters) {
      return frame.elements(of: names).first.flatMap { frame.string($0) }
    }
    guard let item = frame.member("items", of: parameters).flatMap({ frame.elements(of: $0).first }) else { return nil }
    return frame.member("name", of: item).flatMap { frame.string($0) }
  }

  /// Runs `body`, and refuses the call with the refusal that it throws.
  func answer(_ connection: VarlinkConnection, _ body: () throws(Refusal) -> Void) {
    do throws(Refusal) { try body() } catch { connection.fail(error) }
  }

  /// Runs `body` for a call about the vault's content. Without a vault the call is refused, whatever its parameters.
  func answerFromVault(_ connection: VarlinkConnection, _ body: () throws(Refusal) -> Void) {
    answer(connection) { () throws(Refusal) in
      try vault.checkStore()
      try body()
    }
  }

  /// Records that a person may be making a call, if the caller has any rights: nobody else keeps the vault from
  /// locking.
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
        vendor: "io.vaultd", product: "vault", version: ProgramVersion.text, url: "",
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

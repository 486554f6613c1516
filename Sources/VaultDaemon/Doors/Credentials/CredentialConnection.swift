internal import NIOCore
internal import VaultModel
internal import VaultService

/// One connection of a service manager. It asks for one credential by the address of its socket, sends nothing, and
/// reads until the end.
final class CredentialConnection: SecretHolder, ChannelInboundHandler, Client {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let door: CredentialDoor
  private let socket: ClientSocket
  /// Nil when nothing can be known about the process that connected.
  private let peer: Peer?
  let share: UserShare
  private var context: ChannelHandlerContext?
  /// The facts about the process that connected, once they were read. The process is nil if it has been reaped, or
  /// nothing can be known about it.
  private var asker: (process: PeerProcess?, caller: Caller, address: CredentialAddress?)?
  /// The request for the credential, while it waits for the vault.
  private var asked: AskedCall?
  private var outbox: Outbox?
  /// True when the unit must not start.
  private(set) var isRefused = false
  private var isKept = false

  init(_ channel: any Channel, _ door: CredentialDoor) {
    self.door = door
    socket = ClientSocket(channel)
    peer = try? socket.peer()
    share = door.clients.share(of: peer?.uid ?? door.manager)
    heard = door.clients.heardNext()
    super.init(in: door.vault.holders)
  }

  // MARK: Room

  let heard: Int
  var pid: Int32 { peer?.pid ?? 0 }
  var standing: Room.Standing { isRefused ? .idle : .waiting }

  func giveWay(most: Int) { overflow() }
  func close() { overflow() }

  // MARK: Channel handlers

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    // The peer is not the service manager whose units the vault knows, so it starts no unit with what it reads.
    if let peer, peer.uid != door.manager { return finish() }
    keep()
    let admission = door.admit(self)
    let (caller, address) = meet()
    do throws(Refusal) { try begin(caller, address) } catch { return refuse(error) }
    guard asker?.process?.isAlive == true else {
      return refuse(.denied("nothing is known about the process that asks"))
    }
    switch admission {
    case .admitted: break
    case .refused, .turnedAway: return refuse(.busy("too many units wait for credentials"))
    }
    if socket.isBegun { return refuse(.busy("an earlier process of the daemon had begun to answer")) }
    if address == nil { return refuse(.denied("the address of the socket names no unit and no credential")) }
    door.vault.checkDeadlines()
    defer { door.upkeep.foldLogLater() }
    ask()
  }

  /// Collects the facts about the process that asks, and reads what it asks for.
  private func meet() -> (Caller, CredentialAddress?) {
    // When too many files are open, nothing can be known about the process.
    let process = peer.flatMap { PeerProcess(at: socket, $0) }
    var caller = Caller(unknown: peer ?? .unknown, by: .credentials)
    if let peer, let process, process.isAlive {
      caller = Caller(peer, process, groups: socket.peerGroups(), door.clients.known)
      (caller.door, caller.session) = (.credentials, nil)
    }
    let address = CredentialAddress(of: socket)
    asker = (process, caller, address)
    return (caller, address)
  }

  private func begin(_ caller: Caller, _ address: CredentialAddress?) throws(Refusal) {
    let about =
      address.map { Items.detail($0.id, of: $0.unit) } ?? "a credential, from a socket whose address names none"
    defer { door.vault.audit.isAbout(.get, detail: about, for: caller) }
    try door.vault.audit.begin(CredentialDoor.terms, for: caller)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A service manager sends nothing. Reading stops, because the end of its sending is not the end of the connection.
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    refuse(.invalid("request"))
  }

  func channelInactive(context: ChannelHandlerContext) {
    asked?.callOff()
    asked = nil
    outbox?.clear()
    outbox = nil
    if let asker { door.vault.audit.leave(for: asker.caller) }
    door.leave(self)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {}

  func errorCaught(context: ChannelHandlerContext, error: any Error) { finish() }

  // MARK: The answer

  /// Sends the credential now, or as soon as the vault can give it. Only the service manager limits the wait, so that a
  /// unit may wait to start until somebody has unlocked the vault.
  private func ask() {
    guard let asker, let address = asker.address else { return }
    let about = AskedCall.About(.get, detail: Items.detail(address.id, of: address.unit))
    let waiting = AskedCall.begin(about, for: asker.caller, in: door.asking) { () throws(Refusal) in
      try send(address)
    } refuse: {
      refuse($0)
    } kept: {
      let terms = AskedCall.Terms(asker.caller, .anyway(until: nil), about: about) {
        Said(task: "its credential \(Printable.quoted("\(address.id)"))")
      } isStillAsking: { [weak self] in
        self?.checkProcess() == true
      }
      return AskedCall(terms, in: door.asking, share.answers) { [weak self] _ throws(Refusal) in
        try self?.send(address)
      } refuse: { [weak self] in
        self?.refuse($0)
      }
    }
    if let waiting { asked = waiting }
  }

  /// True while the process that asks runs; otherwise its unit is not started.
  private func checkProcess() -> Bool {
    guard !isRefused, let asker else { return false }
    if asker.process?.isAlive != true { overflow() }
    return !isRefused
  }

  /// Sends the credential now, or returns the event that must come first.
  private func send(_ address: CredentialAddress) throws(Refusal) -> Wait? {
    guard checkProcess(), let asker, let context else { return nil }
    // The service manager counts the name toward the limit as well.
    let most = Overflow.limit - address.id.text.utf8.count
    return try door.items.credential(
      address.id, of: address.unit, atMost: most, for: asker.caller
    ) { item, _, value in
      send(value, ReplyContent(item.policy.accessible), context)
    }
  }

  /// Gives a copy of the socket to the service manager of the daemon's own unit. If this daemon is killed, the
  /// requesting unit then keeps waiting, and the next daemon answers it. Without the copy, the connection would end,
  /// and the unit would start with an empty or incomplete file.
  private func keep() {
    isKept = isKept || socket.withDescriptor(door.store.keep) ?? true
    if !isKept { _ = door.timer.after(Timeouts.keepPause) { [weak self] in self?.keep() } }
  }

  private func send(_ value: RawSpan, _ content: ReplyContent, _ context: ChannelHandlerContext) {
    guard let peer, let asker else { return }
    do throws(Refusal) { try door.vault.audit.pass(nil, isLast: true, for: asker.caller) } catch {
      return refuse(error)
    }
    socket.markBegun()
    let outbox = Outbox(
      context.channel, socket, of: Plaintext.Client(process: peer.pid, line: share.works), share,
      plaintext: door.plaintext, clock: door.vault.clock, drop: { [weak self] in self?.overflow() })
    outbox.onProgress = { [weak self] in self?.closeOnceRead() }
    self.outbox = outbox
    outbox.write(content, bytes: value)
    outbox.flush()
    closeOnceRead()
  }

  private func closeOnceRead() {
    if !isRefused, outbox?.isEmpty == true { finish() }
  }

  /// Ends the connection. A mere close would not end it while the service manager keeps a copy of the socket.
  private func finish() {
    socket.shutDown()
    context?.close(promise: nil)
  }

  // MARK: No answer

  /// Keeps the unit from starting, and logs the reason.
  private func refuse(_ refusal: Refusal) {
    guard !isRefused else { return }
    log(refusal.reason)
    // A caller whose entry cannot be written gets only a refusal anyway.
    if let asker { try? door.vault.audit.pass(refusal.outcome, isLast: true, for: asker.caller) }
    overflow()
  }

  private func log(_ reason: String) {
    let what = (asker?.address).map { "the credential \($0.id) of \($0.unit)" } ?? "a credential"
    door.vault.log.warning("\(what) was refused to process \(peer?.pid ?? 0): \(reason)")
  }

  /// Sends a reply with which no unit starts, in place of the rest of the value.
  private func overflow() {
    guard !isRefused, let context else { return }
    isRefused = true
    asked?.callOff()
    if let asker { door.vault.audit.leave(for: asker.caller) }
    (asked, asker) = (nil, nil)
    outbox?.clear()
    socket.markBegun()
    context.writeAndFlush(wrapOutboundOut(Overflow.buffer)).assumeIsolated().whenComplete { [weak self] _ in
      self?.finish()
    }
  }

  /// Returns the socket if this connection still lacks its answer when the daemon ends; nil if everything was sent. A
  /// request that waits ends.
  func owed() -> ClientSocket? {
    let isDone = !isRefused && outbox?.isEmpty == true
    outbox?.clear()
    if isDone { return nil }
    if !isRefused { log("the daemon ends") }
    // The entry of a request that waits names its item, so the wait ends first.
    asked?.callOff()
    if let asker { door.vault.audit.leave(for: asker.caller) }
    (asked, asker) = (nil, nil)
    return socket
  }

  // MARK: Locks

  override func letGo(for lock: Lock) {
    if lock.reach.contains(.names) { asker?.caller.forgetNames() }
    if lock.isEffective, hasUnread(lock) { overflow() }
  }

  override func outlives(_ lock: Lock) -> Bool {
    if lock.reach.contains(.names), asker?.caller.mayHoldNames == true { return true }
    return lock.isEffective && hasUnread(lock)
  }

  private func hasUnread(_ lock: Lock) -> Bool {
    outbox?.hasUnread(ReplyContent(wipedBy: lock), names: lock.reach.contains(.names)) == true
  }
}

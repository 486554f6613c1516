internal import NIOCore
internal import VaultCore
internal import VaultModel
internal import VaultSSH
internal import VaultService
internal import VaultSigning

/// The connection of one client of the ssh-agent. It takes in the client's requests, and answers each before it handles
/// the next.
final class SSHAgentConnection: SecretHolder, ChannelInboundHandler, ReadClient {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let door: SSHAgentDoor
  let socket: ClientSocket
  let peer: Peer
  let share: UserShare
  var context: ChannelHandlerContext?
  var intake: Intake?
  /// A hold on the process that connected; nil if it had ended already, or nothing can be known about it.
  var peerProcess: PeerProcess?
  /// The process that connected, as far as it is known; nil when the client gets no answers.
  var caller: Caller?
  /// The SSH sessions through which the connection comes.
  var bindings = SessionBindings()
  /// The reason why the last binding was not taken in, with the outcome for the audit log; nil if it was.
  var bindingFault: (reason: String, outcome: AuditOutcome)?
  /// Bytes that were read and not handled yet. They may contain a private key or a passphrase.
  var inbound = FrameBuffer()
  var anticipation = Anticipation()
  private var isProcessing = false
  /// True once a lock has come while a request was being handled; then the requests after it are not handled.
  private var isLockedMeanwhile = false
  /// True from a request to the end of its answer. Everything that the client sends meanwhile waits.
  private(set) var isAnswering = false
  /// True once the client sends no more.
  var isEnded = false
  /// The time at which the client last sent something, as ``Clients/heardNext()`` counts.
  var heard = 0
  /// The request, while it waits for the vault or for a person.
  var asked: AskedCall?

  /// - Throws: the reason why nothing can be known about the process that connected.
  init(_ channel: any Channel, _ door: SSHAgentDoor) throws(SystemError) {
    self.door = door
    socket = ClientSocket(channel)
    peer = try socket.peer()
    share = door.clients.share(of: peer.uid)
    super.init(in: door.vault.holders)
  }

  // MARK: Room

  var pid: Int32 { peer.pid }
  /// A connection that waits for its answer is in use.
  var standing: Room.Standing { isAnswering ? .waiting : .idle }

  func giveWay(most: Int) { close() }

  // MARK: Requests

  /// The number of requests handled in one go, so that a client that sends many cannot keep the loop from other
  /// clients, even those of the same user. If a client could fill a whole turn with its requests, it would take as much
  /// time in one go as many pieces of work of other clients.
  private static let slice = 8

  /// Takes bytes that the client has sent.
  func take(_ bytes: RawSpan) {
    defer { Stack.wipeRegisters() }
    guard caller != nil else { return }
    heard = door.clients.heardNext()
    inbound.append(bytes)
    process()
  }

  /// Handles the complete requests, one after the other.
  private func process() {
    guard !isProcessing else { return }
    isProcessing = true
    var left = Self.slice
    while !isAnswering, !isLockedMeanwhile, let count = frameCount {
      isAnswering = true
      if mustWait(count) { continue }
      guard left == 0 || !door.turns.mayGo(line(of: count)) else {
        left -= 1
        handle(count)
        continue
      }
      handleLater(count)
    }
    isProcessing = false
    if isLockedMeanwhile {
      isLockedMeanwhile = false
      if forgetRequests() { return close() }
    }
    // While a request waits for its answer, reading stops once as many bytes as the longest frame are held; the rest
    // waits in the socket.
    intake?.isAllowed = !isAnswering || inbound.count < AgentRequest.maximumFrame
    if isEnded, !isAnswering { close() }
  }

  /// True if the first request cannot be handled yet, because nothing can be decided about its caller, or because the
  /// keys that it needs are being read. It is then handled in a later turn.
  private func mustWait(_ count: Int) -> Bool {
    // A process that has ended is refused at once.
    guard let caller, peerProcess != nil else { return false }
    let later: () -> Void = { [weak self] in self?.handleLater(count) }
    if !door.access.canDecide(about: caller, otherwise: later) { return true }
    guard door.isOn, !door.lock.isLocked, !door.keys.isCurrent, request(of: count)?.listsKeys == true else {
      return false
    }
    return !door.turns.charge(share.works) { door.keys.canList(share.works, otherwise: later) }
  }

  /// Handles the first request in the user's next turn.
  private func handleLater(_ count: Int) {
    door.turns.wait(line(of: count)) { [weak self] in
      guard let self, !mustWait(count) else { return }
      // An answer may be written before `handle` returns, while the request is still in the buffer.
      isProcessing = true
      handle(count)
      isProcessing = false
      process()
    }
  }

  /// The line in which the connection continues, and in which calls that have waited are made again.
  var line: Line { share.answers }

  /// The line in which the first request gets its turn, by its cost.
  private func line(of count: Int) -> Line {
    share.line(of: request(of: count)?.cost ?? AgentRequest.costOfUnreadable)
  }

  /// The first request; nil if it cannot be read, or if a lock has wiped it.
  private func request(of count: Int) -> AgentRequest? {
    guard count <= AgentRequest.maximumFrame, inbound.count >= 4 + count else { return nil }
    return inbound.withBytes { bytes in try? AgentRequest(bytes.extracting(4..<4 + count)) }
  }

  /// The size of the first request, once all of it is there, or once it is known to be too long. Ends the connection if
  /// the request is empty.
  private var frameCount: Int? {
    guard inbound.count >= 4 else { return nil }
    let count = inbound.withBytes { bytes in
      // Four bytes are there, and every bit pattern is a number.
      Int(UInt32(bigEndian: unsafe bytes.unsafeLoadUnaligned(as: UInt32.self)))
    }
    guard count > 0 else {
      close()
      return nil
    }
    return count > AgentRequest.maximumFrame || inbound.count >= 4 + count ? count : nil
  }

  private func handle(_ count: Int) {
    guard caller != nil else { return }
    guard peerProcess?.isAlive == true else { return disown(count) }
    let began = door.vault.clock.monotonic()
    var cost = AgentRequest.costOfUnreadable
    defer { door.turns.charge(share.line(of: cost), since: began) }
    door.vault.checkDeadlines()
    defer { door.upkeep.foldLogLater() }
    guard count <= AgentRequest.maximumFrame else { return endTooLong() }
    // If an answer cannot be written, NIO delivers all remaining bytes of the client. Those bytes go into a separate
    // buffer while the bytes in `frames` are being read.
    var frames = FrameBuffer()
    swap(&frames, &inbound)
    frames.withBytes { bytes in
      let frame = bytes.extracting(4..<4 + count)
      let request: AgentRequest?
      let fault: SSHFormatError?
      do throws(SSHFormatError) { (request, fault) = (try AgentRequest(frame), nil) } catch {
        (request, fault) = (nil, error)
      }
      if let request { cost = request.cost }
      // ssh continues after a refused binding. The binding counts, whatever the answer.
      if case .bind(let bind)? = request { takeIn(bind) }
      guard door.isOn else { return refuse("the settings turn the ssh-agent off") }
      guard begin(request?.terms ?? AgentRequest.termsOfUnreadable, request) else { return }
      if let request { handle(request, frame) }
      if let fault { refuse(fault.reason, .invalid) }
    }
    guard caller != nil else { return inbound.removeAll() }
    frames.removeFirst(4 + count)
    if inbound.count > 0 { inbound.withBytes { frames.append($0) } }
    swap(&frames, &inbound)
  }

  /// Ends the connection because of a request that is too long. The request has its entry, but no answer, like such a
  /// request to OpenSSH's agent.
  private func endTooLong() {
    log("a frame is too long")
    end(AgentRequest.termsOfTooLong, nil, .invalid)
  }

  /// Ends the connection because its process has ended. The request has its entry, but no answer.
  private func disown(_ count: Int) {
    guard door.isOn else { return close() }
    log("the process that connected has ended")
    caller = caller?.whenEnded()
    let request = request(of: count)
    let unread = count > AgentRequest.maximumFrame ? AgentRequest.termsOfTooLong : AgentRequest.termsOfUnreadable
    end(request?.terms ?? unread, request, .denied)
  }

  /// Records a request that gets no answer, and ends the connection.
  private func end(_ terms: CallTerms, _ request: AgentRequest?, _ outcome: AuditOutcome) {
    if let caller {
      try? door.vault.audit.begin(terms, for: caller)
      if let request { note(request) }
      // No answer depends on the entry.
      try? door.vault.audit.pass(outcome, isLast: true, for: caller)
    }
    close()
  }

  /// Begins a call; refuses it if the audit log, which it needs, cannot be written.
  private func begin(_ terms: CallTerms, _ request: AgentRequest?) -> Bool {
    guard let caller else { return false }
    do throws(Refusal) {
      try door.vault.audit.begin(terms, for: caller)
      return true
    } catch {
      if let request { note(request) }
      refuse(error.reason, error.outcome)
      return false
    }
  }

  // MARK: Answers

  /// - Parameter refusal: the outcome for the audit log, if the reply is a refusal.
  func reply(_ reply: AgentReply, _ refusal: AuditOutcome? = nil) { self.reply(encoded: reply.encoded(), refusal) }

  /// Sends an answer after its entry is stored as required. Handles the next request when the answer is written.
  func reply(encoded answer: [UInt8], _ refusal: AuditOutcome? = nil) {
    stopWaiting()
    var bytes = answer
    if let caller {
      do throws(Refusal) { try door.vault.audit.pass(refusal, isLast: true, for: caller) } catch {
        log(error.reason)
        bytes = AgentReply.failure.encoded()
      }
    }
    guard let context else { return }
    // Bytes have no padding.
    let sent = socket.send(unsafe bytes.span.bytes)
    guard sent < bytes.count else { return isAnswered() }
    var buffer = context.channel.allocator.buffer(capacity: bytes.count - sent)
    buffer.writeBytes(bytes[sent...])
    context.writeAndFlush(wrapOutboundOut(buffer)).assumeIsolated().whenComplete { [weak self] _ in
      self?.isAnswered()
    }
  }

  private func isAnswered() {
    guard inbound.count > 0, !isProcessing else {
      isAnswering = false
      return process()
    }
    // An answer may be given in the middle of a lock, while some holders still have their secrets, so the next request
    // is handled in a later turn.
    door.turns.wait(line) { [weak self] in
      self?.isAnswering = false
      self?.process()
    }
  }

  /// Refuses a request. The protocol has no room for the reason, so the reason goes to the log.
  func refuse(_ reason: String, _ outcome: AuditOutcome = .denied) {
    log(reason)
    reply(.failure, outcome)
  }

  func log(_ reason: String) {
    door.vault.log.info("ssh-agent: process \(peer.pid) was refused: \(reason)")
  }

  /// Forgets the process that connected; its requests get no answer.
  func forgetCaller() {
    if let caller { door.vault.audit.leave(for: caller) }
    caller = nil
  }

  func close() {
    // The entry of a request that waits names its key, so the wait ends first.
    stopWaiting()
    forgetCaller()
    context?.close(promise: nil)
  }

  /// Returns true while the client is connected and its process runs; otherwise ends the connection, whoever holds it.
  func checkStillAsking() -> Bool {
    if caller != nil, peerProcess?.isAlive == true { return true }
    close()
    return false
  }

  // MARK: Locks

  override func letGo(for lock: Lock) {
    // While a request is handled, it and the bytes after it are being read.
    if lock.isEffective, isProcessing { isLockedMeanwhile = true }
    let hasForgotten = lock.isEffective && !isProcessing && forgetRequests()
    let isEnded = lock.isEffective && isEnded(by: lock)
    if isEnded, let caller {
      // The entry of a request that the lock ends names its key.
      stopWaiting()
      door.vault.audit.willRefuse(.locked, for: caller)
    }
    if lock.reach.contains(.names) { caller?.forgetNames() }
    guard isEnded else {
      if hasForgotten { close() }
      return
    }
    // The request is refused once the lock is done, so that the entries of all connections are written together.
    door.vault.hooks.afterwards { [weak self] in
      guard let self, caller != nil else { return }
      refuse("the vault was locked meanwhile", .locked)
      if hasForgotten { close() }
    }
  }

  /// Wipes the requests that are not handled yet, because a key in them belongs to the data that a lock protects; false
  /// if there are none. Otherwise the connection must end, because these requests get no answers.
  private func forgetRequests() -> Bool {
    guard inbound.count > 0 else { return false }
    inbound.removeAll()
    return true
  }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && caller?.mayHoldNames == true
  }
}

internal import NIOCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// One client: takes frames in, hands calls to the door one at a time, and sends the replies in order.
///
/// A call that cannot be answered at once holds the connection (``hold(_:)``); what the client sends meanwhile waits.
/// All of it runs on the event loop. Here is what the door sees; in extensions what NIO calls, how calls are taken
/// from what was read, and how a connection ends.
final class VarlinkConnection: SecretHolder, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let peer: Peer
  let door: VarlinkDoor
  /// Its place in the order in which clients were accepted, as ``Clients/heardNext()`` counts.
  let place: Int
  /// The process that connected, as far as the kernel tells of it; set when the connection is accepted.
  var caller: Caller
  /// The time at which the process of the peer's number had started at the accept; nil where the kernel knows the
  /// process itself.
  var peerStarted: UInt64?

  /// All that its uid has.
  let share: UserShare
  var input = Input()
  var current = CurrentCall()

  // MARK: What is sent

  /// The work that goes on when the client has read enough.
  var onWritable: (() -> Void)?

  // MARK: The channel, while there is one

  var context: ChannelHandlerContext?
  var outbox: Outbox?
  /// Set by who made the channel, or found in it.
  var socket: ClientSocket?
  var isClosing = false
  var isLingering = false

  /// - Throws: why nothing can be known of who connected.
  convenience init(_ channel: any Channel, _ door: VarlinkDoor) throws(SystemError) {
    let socket = ClientSocket(channel)
    self.init(peer: try socket.peer(), door: door)
    self.socket = socket
  }

  init(peer: Peer, door: VarlinkDoor) {
    self.peer = peer
    self.door = door
    place = door.clients.heardNext()
    caller = Caller(unknown: peer)
    share = door.clients.share(of: peer)
    super.init(in: door.vault.holders)
  }

  var clients: Clients { door.clients }

  /// Whose large replies are.
  var plaintextClient: Plaintext.Client { Plaintext.Client(process: peer.pid, line: share.works) }

  // At the daemon's end all of them are closed, with what they have to say.
  override func letGo(for lock: Lock) {
    if lock.reach.contains(.names) { caller.memory.forgetNames() }
    if lock.isEffective, lock.cause != .stop { self.lock(lock) }
  }

  override func outlives(_ lock: Lock) -> Bool {
    // Somebody who is told of the lock after this may have asked what the caller may know.
    if lock.reach.contains(.names), caller.memory.mayHoldNames { return true }
    return lock.isEffective && lock.cause != .stop
      && outbox?.hasUnread(ReplyContent(wipedBy: lock), names: lock.reach.contains(.names)) == true
  }
}

// MARK: Parts

extension VarlinkConnection {
  /// The bytes that the client has sent, and how far they are read.
  struct Input: ~Copyable {
    var inbound = Inbound()
    var anticipation = Anticipation()
    /// The time at which the client sent something last, as ``Clients/heardNext()`` counts.
    var heard = 0
    /// The bytes of frames that are held for the client, as ``Clients`` knows them.
    var held = 0
    /// True when calls are being taken from what was just read: their replies go out together.
    var isReading = false
    /// True when calls are being handled just now.
    var isProcessing = false
    /// The reason why what is left of them is refused then: the vault was locked meanwhile.
    var lockedMeanwhile: Refusal?
    /// True when more is read of what the client sends.
    var isAccepting = true
    /// True until the loop looks at its sockets again, where what it was to read was taken before.
    var isPaused = false
    /// True when the rest of what was read is handled in a later turn of the loop.
    var isScheduled = false
    /// True when the client will send nothing more.
    var isEnded = false
    /// Ends the connection when the rest of a frame does not come.
    var halfFrame: Scheduled<Void>?
  }

  /// The call that is being answered.
  struct CurrentCall {
    /// Set while it waits for its answer: runs if the client goes away.
    var onCancel: (() -> Void)? {
      didSet { if onCancel == nil { holdsName = false } }
    }
    /// The part of it that was prepared where it changes an item with long versions.
    var long: LongChange?
    /// True when it is to be handled again in the user's next turn.
    var comesAgain = false
    /// The content of its replies that a lock is to wipe, where they say nothing else.
    var content: ReplyContent = []
    /// True when it wants no reply.
    var isOneway = false
    /// True when it takes a stream of replies.
    var streams = false
    /// True while it waits for room with the name of an item, which a lock is to wipe where names are hidden.
    var holdsName = false
  }
}

// MARK: Who is there

extension VarlinkConnection {
  /// True when the process that connected runs. What an ended one has left open has no authority, whoever holds it now.
  var isPeerAlive: Bool { peerProcess != nil }

  /// ``isPeerAlive``; where it is not, what it asked for is refused, whoever holds its socket.
  func checkPeer() -> Bool {
    if isPeerAlive { return true }
    disown()
    return false
  }

  /// The process that connected; nil when it has ended, or nothing can be known of it.
  var peerProcess: PeerProcess? {
    clients.runningProcess(of: self) {
      if let peerStarted { return PeerProcess(peer.pid, started: peerStarted) }
      return socket.flatMap { PeerProcess(at: $0, peer) }
    }
  }
}

// MARK: Answers

extension VarlinkConnection {
  /// Sends a reply; with `continues`, others follow it.
  ///
  /// - Parameter content: what a lock is to wipe of it before it is read; nil for what the method says.
  func reply(_ value: some WireValue, continues: Bool = false, content: ReplyContent? = nil) {
    reply(continues: continues, content: content) { value.write(to: &$0) }
  }

  /// Sends a reply whose parameters `write` writes, as one object.
  func reply(continues: Bool = false, content: ReplyContent? = nil, _ write: (inout JSONWriter) -> Void) {
    guard passes(isLast: !continues) else { return }
    send(content ?? current.content) { $0.reply(continues: continues, parameters: write) }
    if !continues { release() }
  }

  /// Sends replies that are written already, whole messages that others follow.
  func stream(_ messages: RawSpan) {
    guard mayAnswer() else { return }
    outbox?.pass(messages)
  }

  /// True when an answer to the call may go out, its entry being where it has to be. Where it may not, the client is
  /// told why, and the connection ends: nothing else of the call is answered.
  func passes(isLast: Bool) -> Bool {
    do throws(Refusal) {
      try door.vault.audit.pass(nil, isLast: isLast, for: caller)
      return true
    } catch {
      refuseCalls(error)
      return false
    }
  }

  /// Refuses the call, which ends it.
  ///
  /// - Parameter failed: the place of the item that it is about among those of the call.
  func fail(_ refusal: Refusal, failed: Int? = nil) { fail(Fault(refusal, failed: failed), refusal.outcome) }

  /// Sends an error, which ends the call.
  func fail(_ fault: Fault, _ outcome: AuditOutcome = .invalid) {
    let fault = passed(fault, outcome)
    send { $0.reply(fault) }
    release()
  }

  /// The error to send in place of an answer: another one where the entry of the call cannot be written.
  func passed(_ fault: Fault, _ outcome: AuditOutcome) -> Fault {
    do throws(Refusal) {
      try door.vault.audit.pass(outcome, isLast: true, for: caller)
      return fault
    } catch { return Fault(error) }
  }

  /// Keeps the connection for a call that will be answered later. `cancel` runs if the client goes away first.
  func hold(_ cancel: @escaping () -> Void) {
    current.onCancel = cancel
    current.holdsName = false
  }

  /// True when a call waits for something that is not the client's to do.
  var isHeld: Bool { current.onCancel != nil || input.isScheduled }

  /// The held call is over: go on with what came meanwhile, after this reply is out.
  private func release() {
    guard current.onCancel != nil else { return }
    current.onCancel = nil
    // With nothing to go on with, the next request is not to wait behind the work of others.
    if input.inbound.hasFrame || input.isEnded || !input.isAccepting { waitForTurn(in: share.answers) }
  }

  /// Sends what `write` writes, together with the other replies to what was read at once.
  func send(_ content: ReplyContent = [], _ write: (inout JSONWriter) -> Void) {
    guard mayAnswer(), let outbox else { return }
    outbox.write(content, write)
    if !input.isReading || outbox.isFull { outbox.flush() }
  }

  /// True when an answer can be sent. One to a call that had to wait is for the process that connected alone: where
  /// that has ended meanwhile, the call is refused, whoever holds the socket now.
  private func mayAnswer() -> Bool {
    guard !isClosing, !current.isOneway else { return false }
    return current.onCancel == nil || checkPeer()
  }

  /// True while the call that had to wait is to be answered: its client is there, and so is the process that asked.
  var isStillAsking: Bool { !isClosing && checkPeer() }

  /// True when the client reads what it is sent. A stream is ended when it does not.
  var isKeepingUp: Bool { outbox?.isKeepingUp ?? false }

  /// Runs `work` after `delay`, unless it is cancelled.
  func after(_ delay: TimeAmount, _ work: @escaping () -> Void) -> Scheduled<Void>? {
    context?.eventLoop.assumeIsolated().scheduleTask(in: delay, work)
  }

  /// Runs `work` in a later turn of the loop, once the client has read enough of what it was sent.
  func whenKeepingUp(_ work: @escaping () -> Void) {
    if isKeepingUp { door.turns.wait(share.works, work) } else { onWritable = work }
  }
}

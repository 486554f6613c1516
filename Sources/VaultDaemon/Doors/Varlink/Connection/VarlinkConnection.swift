internal import NIOCore
internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The connection of one client: receives frames, passes calls to the door one at a time, and sends the replies in
/// order.
///
/// A call that cannot be answered at once holds the connection (``hold(withName:_:)``); everything that the client
/// sends meanwhile waits. Everything runs on the event loop. This file contains the interface for the door. Extensions
/// contain the handlers that NIO calls, the taking of calls from the bytes that were read, and the end of a connection.
final class VarlinkConnection: SecretHolder, ChannelInboundHandler, Sender, ReadClient {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let peer: Peer
  let door: VarlinkDoor
  /// The connection's place in the order in which clients were accepted, as ``Clients/heardNext()`` counts.
  let place: Int
  /// The process that connected, as far as the kernel identifies it. Until the process is examined, at the accept or in
  /// a later turn, only its uid and pid are known.
  var caller: Caller
  /// The start time, seen at the accept, of the process with the peer's pid; nil if the kernel identifies the process
  /// itself.
  var peerStarted: UInt64?
  /// True if nothing could be known about the process that connected when it was examined. Another process may have its
  /// number by now, so it is not examined again.
  var isOrphaned = false

  /// The share of the client's uid.
  let share: UserShare
  var input = Input()
  var current = CurrentCall()

  // MARK: Sending

  /// The work that continues when the client has read enough.
  var onWritable: (() -> Void)?

  // MARK: The channel, while there is one

  var context: ChannelHandlerContext?
  var outbox: Outbox?
  var intake: Intake?
  /// The client's socket, set by the code that made the channel, or found in the channel.
  var socket: ClientSocket?
  var isClosing = false
  var isLingering = false

  /// - Throws: the reason why nothing can be known about the process that connected.
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
    share = door.clients.share(of: peer.uid)
    if door.access.names(user: peer.uid) { share.note(true, door.access.revision) }
    super.init(in: door.vault.holders)
  }

  var clients: Clients { door.clients }

  /// The client that large replies are counted for.
  var plaintextClient: Plaintext.Client { Plaintext.Client(process: peer.pid, line: share.works) }

  // At the end of the daemon, all connections are closed after their last replies, so the lock at the daemon's end is
  // ignored here.
  override func letGo(for lock: Lock) {
    // The entry of a call that the lock ends names its item, so the call ends before the names are forgotten.
    if lock.isEffective, lock.cause != .stop { self.lock(lock) }
    if lock.reach.contains(.names) { caller.forgetNames() }
  }

  override func outlives(_ lock: Lock) -> Bool {
    // Another secret holder, which is told of the lock after this one, may have asked what the caller may know, and so
    // filled the caller's memory again.
    if lock.reach.contains(.names), caller.mayHoldNames { return true }
    return lock.isEffective && lock.cause != .stop
      && outbox?.hasUnread(ReplyContent(wipedBy: lock), names: lock.reach.contains(.names)) == true
  }
}

// MARK: Parts

extension VarlinkConnection {
  /// The bytes that the client has sent, and the state of reading them.
  struct Input: ~Copyable {
    var inbound = Inbound()
    var anticipation = Anticipation()
    /// The time at which the client last sent something, as ``Clients/heardNext()`` counts.
    var heard = 0
    /// True until the client has sent something.
    var isNew = true
    /// True when the next call was found to be one for which other connections give way.
    var isUrgent = false
    /// The bytes of frames that are held for the client, as last reported to the ``Entrance``.
    var held = 0
    /// True while calls are taken from bytes that were just read; their replies are sent together.
    var isReading = false
    /// True while calls are being handled.
    var isProcessing = false
    /// The reason to refuse the remaining calls after the ones that are being handled, because the vault was locked in
    /// the meantime.
    var lockedMeanwhile: Refusal?
    /// True when the connection accepts further bytes.
    var isAccepting = true
    /// True until the loop looks at its sockets again, after bytes that it was about to read were taken early.
    var isPaused = false
    /// True when the remaining calls are handled in a later turn of the loop.
    var isScheduled = false
    /// True when the remaining calls are refused, and the connection ends, once the lock is done. Bytes that come until
    /// then belong to these calls.
    var isRefused = false
    /// True when the client will send nothing more.
    var isEnded = false
    /// Ends the connection when the rest of a frame does not come.
    var halfFrame: Scheduled<Void>?
  }

  /// The call that is being answered.
  struct CurrentCall {
    /// The closure to run if the client goes away; set while the call waits for its answer.
    var onCancel: (() -> Void)? {
      didSet { if onCancel == nil { (asked, holdsName, attends) = (nil, false, false) } }
    }
    /// The call, while it waits for the vault or for a person.
    var asked: AskedCall?
    /// The prepared part of a call that changes an item with long versions.
    var long: LongChange?
    /// True when the call must be handled again in the user's next turn.
    var comesAgain = false
    /// The content of the replies that a lock must wipe, unless a reply names its own.
    var content: ReplyContent = []
    /// True when the call wants no reply.
    var isOneway = false
    /// True when the call takes a stream of replies.
    var streams = false
    /// True while an agent attends through the call.
    var attends = false
    /// True while the call waits with the name of an item, or words that may contain one, which a lock must wipe in a
    /// vault that hides names.
    var holdsName = false
  }
}

// MARK: The client's process

extension VarlinkConnection {
  /// True while the process that connected runs. A connection that an ended process left open has no authority, whoever
  /// holds it now.
  var isPeerAlive: Bool { peerProcess != nil }

  /// Returns ``isPeerAlive``; if it is false, refuses the process's calls, whoever holds its socket.
  func checkPeer() -> Bool {
    if isPeerAlive { return true }
    disown()
    return false
  }

  /// The process that connected; nil when it has ended, or nothing can be known about it.
  var peerProcess: PeerProcess? {
    if isOrphaned { return nil }
    return clients.runningProcess(peer.pid, acceptedAs: place) {
      if let peerStarted { return PeerProcess(peer.pid, started: peerStarted) }
      return socket.flatMap { PeerProcess(at: $0, peer) }
    }
  }
}

// MARK: Answers

extension VarlinkConnection {
  /// Sends a reply; with `continues`, further replies follow it.
  ///
  /// - Parameter content: the content that a lock must wipe before the client reads it; nil for that of the method.
  func reply(_ value: some WireValue, continues: Bool = false, content: ReplyContent? = nil) {
    reply(continues: continues, content: content) { value.write(to: &$0) }
  }

  /// Sends a reply whose parameters `write` writes, as one object.
  func reply(continues: Bool = false, content: ReplyContent? = nil, _ write: (inout JSONWriter) -> Void) {
    guard passes(isLast: !continues) else { return }
    send(content ?? current.content) { $0.reply(continues: continues, parameters: write) }
    if !continues { release() }
  }

  /// Sends whole messages that are already written. Further messages follow them.
  func stream(_ messages: RawSpan) {
    guard mayAnswer() else { return }
    outbox?.pass(messages)
  }

  /// Returns true when an answer may be sent because its entry is stored as required. Otherwise the client is told the
  /// reason and the connection ends: the call gets no other answer.
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
  /// - Parameter failed: the index of the refused item among the items of the call.
  func fail(_ refusal: Refusal, failed: Int? = nil) { fail(Fault(refusal, failed: failed), refusal.outcome) }

  /// Sends an error, which ends the call.
  func fail(_ fault: Fault, _ outcome: AuditOutcome = .invalid) {
    let fault = passed(fault, outcome)
    send { $0.reply(fault) }
    release()
  }

  /// Returns the error to send; it is replaced if the entry of the call cannot be written.
  ///
  /// - Parameter caller: the caller of the call; nil for the caller of the connection.
  func passed(_ fault: Fault, _ outcome: AuditOutcome, for caller: VaultService.Caller? = nil) -> Fault {
    do throws(Refusal) {
      try door.vault.audit.pass(outcome, isLast: true, for: caller ?? self.caller)
      return fault
    } catch { return Fault(error) }
  }

  /// Holds the connection for a call that will be answered later.
  ///
  /// - Parameters:
  ///   - holdsName: true if what continues the call contains the name of an item, or words that may contain one. In a
  ///     vault that hides names, a lock then ends the call.
  ///   - cancel: runs if the client goes away first; at once if the connection has ended.
  func hold(withName holdsName: Bool, _ cancel: @escaping () -> Void) {
    guard !isClosing else { return cancel() }
    current.onCancel = cancel
    (current.asked, current.holdsName, current.attends) = (nil, holdsName, false)
  }

  /// Holds the connection for a call until the event for which the call waits has come.
  func hold(_ call: AskedCall) {
    guard !isClosing else { return call.callOff() }
    // The event for which the call waits tells whether the call has a name in memory.
    hold(withName: false) { call.callOff() }
    current.asked = call
  }

  /// Ends a held call: continues with the bytes that came meanwhile, after this reply is sent.
  private func release() {
    guard current.onCancel != nil else { return }
    current.onCancel = nil
    // If nothing is left to continue with, the next request need not wait behind the work of others.
    if input.inbound.hasFrame || input.isEnded || !input.isAccepting { waitForTurn(in: share.answers) }
  }

  /// Sends the message that `write` writes, together with the other replies to the bytes of the same read.
  func send(_ content: ReplyContent = [], _ write: (inout JSONWriter) -> Void) {
    guard mayAnswer(), let outbox else { return }
    outbox.write(content, write)
    if !input.isReading || outbox.isFull { outbox.flush() }
  }

  /// Returns true when an answer can be sent. The answer to a call that had to wait is only for the process that
  /// connected: if that has ended in the meantime, the call is refused, whoever holds the socket now.
  private func mayAnswer() -> Bool {
    guard !isClosing, !current.isOneway else { return false }
    return current.onCancel == nil || checkPeer()
  }

  /// True while a call that had to wait should be answered: the client is connected, and the process that made the call
  /// runs.
  var isStillAsking: Bool { !isClosing && checkPeer() }

  /// True when the client reads its replies fast enough. Otherwise a stream to it is ended.
  var isKeepingUp: Bool { outbox?.isKeepingUp ?? false }

  /// Runs `work` after `delay`, unless it is cancelled.
  func after(_ delay: TimeAmount, _ work: @escaping () -> Void) -> Scheduled<Void>? {
    context?.eventLoop.assumeIsolated().scheduleTask(in: delay, work)
  }

  /// Runs `work` in a later turn of the loop, once the client has read enough of its replies.
  func whenKeepingUp(_ work: @escaping () -> Void) {
    if isKeepingUp { door.turns.wait(share.works, work) } else { onWritable = work }
  }
}

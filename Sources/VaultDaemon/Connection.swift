internal import NIOCore
internal import VaultAPI

/// One client: takes frames in, hands calls to the service one at a time, and sends the replies in order.
///
/// A call that cannot be answered at once holds the connection (``hold(_:)``); what the client sends meanwhile waits.
/// All of it runs on the event loop. Here is what the service sees; in extensions what NIO calls, how calls are taken
/// from what was read, and how a connection ends.
final class Connection: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let peer: Peer
  let service: Service
  /// The time at which the process of the peer's number had started at the accept; nil where the kernel knows the
  /// process itself.
  var peerStarted: UInt64?

  // MARK: What is read

  let rate: RequestRate
  var inbound = Inbound()
  /// The buffer for requests that are not waited for; wiped after each.
  var incoming = Incoming()
  var anticipation = Anticipation()
  /// The time at which the client sent something last, as ``Service/heardNext()`` counts.
  var heard = 0
  /// The bytes of frames that are held for the client, as the service knows them.
  var held = 0
  /// True when calls are being taken from what was just read: their replies go out together.
  var isReading = false
  /// True when calls are being handled just now.
  var isProcessing = false
  /// The reason why what is left of them is refused then: the vault was locked meanwhile.
  var lockedMeanwhile: Fault?
  /// True when more is read of what the client sends.
  var isAccepting = true
  /// True when the rest of what was read is handled in a later turn of the loop.
  var isScheduled = false
  /// True when the client will send nothing more.
  var inputClosed = false
  /// Ends the connection when the rest of a frame does not come.
  var halfFrame: Scheduled<Void>?

  // MARK: The call that is answered

  /// Set while a call waits for its answer: what to do if the client goes away.
  var onCancel: (() -> Void)? {
    didSet { if onCancel == nil { waitingProcess = nil } }
  }
  /// The process that connected, while a call of it waits: it is looked at with each answer.
  var waitingProcess: PeerProcess?
  /// True when the current call wants no reply.
  var isOneway = false

  // MARK: What is sent

  /// The work that goes on when the client has read enough.
  var onWritable: (() -> Void)?

  // MARK: The channel, while there is one

  var context: ChannelHandlerContext?
  var outbox: Outbox?
  var socket: ClientSocket?
  var isClosing = false
  var isLingering = false

  init(peer: Peer, service: Service) {
    self.peer = peer
    self.service = service
    rate = service.rate(of: peer)
  }
}

// MARK: Who is there

extension Connection {
  /// True when the process that connected runs. What an ended one has left open has no authority, whoever holds it now.
  var isPeerAlive: Bool { peerProcess?.isAlive == true }

  /// True when the process belongs to a system service. One that has ended is not believed to be anything else.
  var isSystemService: Bool { peer.isSystemService || !isPeerAlive }

  /// The session that what the client proves counts for; nil when the process that connected is gone.
  var session: AuthenticationSession? { peerProcess.flatMap { AuthenticationSession(of: peer, $0) } }

  var peerProcess: PeerProcess? {
    waitingProcess
      ?? service.process(of: self) {
        if let peerStarted { return PeerProcess(peer, started: peerStarted) }
        return socket.flatMap { PeerProcess(at: $0, peer) }
      }
  }
}

// MARK: Answers

extension Connection {
  /// Sends a reply; with `continues`, others follow it.
  func reply(_ value: some WireValue, continues: Bool = false) {
    reply(continues: continues) { value.write(to: &$0) }
  }

  /// Sends a reply whose parameters `write` writes, as one object.
  ///
  /// - Parameter content: what a lock is to wipe of it before it is read.
  func reply(continues: Bool = false, content: ReplyContent = [], _ write: (inout JSONWriter) -> Void) {
    send(content) { $0.reply(continues: continues, parameters: write) }
    if !continues { release() }
  }

  /// Sends replies that are written already, whole messages that others follow.
  func stream(_ messages: RawSpan) {
    guard mayAnswer() else { return }
    outbox?.pass(messages)
  }

  /// Sends an error, which ends the call.
  func fail(_ fault: Fault) {
    send { $0.reply(fault) }
    release()
  }

  /// Keeps the connection for a call that will be answered later. `cancel` runs if the client goes away first.
  func hold(_ cancel: @escaping () -> Void) {
    waitingProcess = peerProcess
    onCancel = cancel
  }

  /// True when a call waits for something that is not the client's to do.
  var isHeld: Bool { onCancel != nil || isScheduled }

  /// The held call is over: go on with what came meanwhile, after this reply is out.
  private func release() {
    guard onCancel != nil else { return }
    onCancel = nil
    // With nothing to go on with, the next request is not to wait behind the work of others.
    if inbound.hasFrame || inputClosed || !isAccepting { waitForTurn() }
  }

  /// Sends what `write` writes, together with the other replies to what was read at once.
  func send(_ content: ReplyContent = [], _ write: (inout JSONWriter) -> Void) {
    guard mayAnswer(), let outbox else { return }
    outbox.write(content, write)
    if !isReading || outbox.isFull { outbox.flush() }
  }

  /// True when an answer can be sent. One to a call that had to wait is for the process that connected alone: where
  /// that has ended meanwhile, the call is refused, whoever holds the socket now.
  private func mayAnswer() -> Bool {
    guard !isClosing, !isOneway else { return false }
    if onCancel == nil || isPeerAlive { return true }
    disown()
    return false
  }

  /// True when the client reads what it is sent. A stream is ended when it does not.
  var isKeepingUp: Bool { outbox?.isKeepingUp ?? false }

  /// Runs `work` after `delay`, unless it is cancelled.
  func after(_ delay: TimeAmount, _ work: @escaping () -> Void) -> Scheduled<Void>? {
    context?.eventLoop.assumeIsolated().scheduleTask(in: delay, work)
  }

  /// Runs `work` in a later turn of the loop, once the client has read enough of what it was sent.
  func whenKeepingUp(_ work: @escaping () -> Void) {
    if isKeepingUp { service.turns.wait(work) } else { onWritable = work }
  }
}

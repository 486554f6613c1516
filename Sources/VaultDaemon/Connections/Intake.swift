internal import NIOCore
internal import VaultService

/// A client whose bytes are read by way of an ``Intake``.
protocol ReadClient: Client {
  /// Takes bytes that the client has sent and that the loop has not read.
  func takeRest(_ bytes: RawSpan)
  /// Notes that everything the client has sent was taken, and that it sends no more.
  func hasSentAll()
}

/// The reading of what one client sends: the loop reads a small piece, and the rest is read in turns of the user.
///
/// All sockets that are ready at once are read one after the other, before the loop does anything else. The time for
/// that is charged to nobody, so a piece is small. When a client has sent more than a piece, the loop reads from it
/// again only after a turn of its user has emptied the socket.
///
/// When a client has finished sending, NIO would read everything that is left, however much that is and even while its
/// reading is switched off. So NIO's input is closed then. The bytes stay in the socket until they are read in turns.
final class Intake {
  /// The most bytes that the loop reads at once, enough for almost every request.
  static let piece = 4096

  private let channel: any Channel
  private let socket: ClientSocket
  private let clients: Clients
  private let turns: Turns
  private unowned let client: any ReadClient
  /// True when the loop's last piece was full, so that more may wait in the socket.
  private var isFull = false
  /// True while a turn for reading on is awaited.
  private var isWaiting = false
  /// True when NIO's input was closed before everything was read.
  private var isCut = false
  /// True when everything was read, and nothing more comes.
  private var isOver = false

  init(_ channel: any Channel, _ socket: ClientSocket, of client: any ReadClient, _ clients: Clients, _ turns: Turns) {
    (self.channel, self.socket, self.client) = (channel, socket, client)
    (self.clients, self.turns) = (clients, turns)
  }

  /// True while the connection accepts further bytes.
  var isAllowed = true {
    didSet { if isAllowed != oldValue { update() } }
  }

  private func update() {
    guard !isCut else { return waitForTurn() }
    try? channel.syncOptions?.setOption(.autoRead, value: isAllowed && !isWaiting)
  }

  /// Notes that the loop has read `count` bytes.
  func loopHasRead(_ count: Int) { isFull = count >= Self.piece }

  /// Reads on after the loop's piece, if that was full: at once while nobody waits and the loop has time, and otherwise
  /// in the user's next turn. Call this at the end of NIO's read.
  func goOn() {
    guard isFull else { return }
    isFull = false
    if isAllowed, !isWaiting, turns.mayGo(client.share.works) {
      let count = turns.charge(client.share.works) { readOn() }
      if count < Incoming.most { return }
    }
    guard channel.isActive else { return }
    if !isCut, socket.isFinished {
      isCut = true
      channel.close(mode: .input, promise: nil)
    }
    waitForTurn()
  }

  /// Notes that the loop reads no more.
  func loopHasEnded() { if !isCut { end() } }

  private func waitForTurn() {
    guard isAllowed, !isWaiting, !isOver else { return }
    isWaiting = true
    if !isCut { update() }
    turns.wait(client.share.works) { [weak self] in self?.turn() }
  }

  private func turn() {
    isWaiting = false
    // If the connection accepts no bytes now, `isAllowed` resumes the reading later.
    guard isAllowed, !isOver, channel.isActive else { return }
    let count = readOn()
    // Nobody else reads what is left after the input was closed, so only an empty read is the end.
    if isCut ? count > 0 : count == Incoming.most { return waitForTurn() }
    if isCut { end() } else { update() }
  }

  private func readOn() -> Int { clients.takeRest(from: socket) { client.takeRest($0) } }

  private func end() {
    guard !isOver else { return }
    isOver = true
    client.hasSentAll()
  }
}

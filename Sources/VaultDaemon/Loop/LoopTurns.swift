internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import VaultService

/// Turns on the loop for work that goes on for long, each after the loop has looked for requests.
///
/// Work given to `execute` runs until there is none of it left, and only then does the loop look at its sockets again:
/// work that went on by it would let nobody in. This is a counter (eventfd(2)) that the loop meets among its sockets, and the
/// turn is work of the loop that it then does.
final class LoopTurns {
  // The loop closes it with its channels.
  private let counter: Int32

  /// Has `turn` run on `loop` after each ``next()``. Call on the loop.
  init(on loop: any EventLoop, _ turn: @escaping () -> Void) throws(SystemError) {
    let counter = try SystemError.check("eventfd", eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
    self.counter = counter
    let handler = NIOLoopBound(Turn(turn), eventLoop: loop)
    NIOPipeBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(handler.value) }
      }
      .takingOwnershipOfDescriptor(input: counter)
      .whenFailure { _ in close(counter) }
  }

  /// Asks for one turn, which comes when the loop has looked for requests.
  func next() { eventfd_write(counter, 1) }

  private final class Turn: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let turn: () -> Void

    init(_ turn: @escaping () -> Void) { self.turn = turn }

    // The counter may be the first of what the loop has met, and a lock the last: so the turn comes after all of them.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.eventLoop.assumeIsolated().execute(turn) }
  }
}

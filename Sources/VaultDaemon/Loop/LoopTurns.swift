internal import CLinux
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import VaultService

/// Turns on the loop for long work. Each turn comes after the loop has looked for requests.
///
/// Work given to `execute` runs until none is left, and only then does the loop look at its sockets again. Long work
/// that continued itself that way would let nobody in. So this uses a counter (eventfd(2)) among the loop's sockets:
/// when the loop finds it readable, the loop runs the turn.
final class LoopTurns {
  // The loop closes the counter with its channels.
  private let counter: Int32

  /// Runs `turn` on `loop` after each ``next()``. Call this on the loop.
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

  /// Requests one turn, which comes after the loop has looked for requests.
  func next() { eventfd_write(counter, 1) }

  private final class Turn: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let turn: () -> Void

    init(_ turn: @escaping () -> Void) { self.turn = turn }

    // Of the ready sockets, the loop may handle the counter first and a call of Lock last, so the turn is queued behind
    // all of them.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.eventLoop.assumeIsolated().execute(turn) }
  }
}

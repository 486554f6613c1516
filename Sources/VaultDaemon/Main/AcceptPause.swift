internal import NIOCore

/// Stops accepting for a moment when it fails, as it does at the limit of open files.
///
/// The client that could not be accepted makes the listening socket readable still: the loop would come back to it at
/// once, and at once again. NIO's own `AcceptBackoffHandler` holds back the next read and leaves the socket registered,
/// so that it does not help.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private var isPaused = false

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isPaused, let options = context.channel.syncOptions else { return }
    isPaused = true
    try? options.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Timeouts.acceptPause) { [self] in
      isPaused = false
      // It fails when the daemon has ended meanwhile.
      try? options.setOption(.autoRead, value: true)
    }
  }
}

internal import NIOCore

/// Stops accepting for a moment after a failure, as at the limit of open files.
///
/// A client that could not be accepted leaves the listening socket readable, so the loop would return to it again and
/// again at once. NIO's own `AcceptBackoffHandler` delays the next read but leaves the socket registered, so it does
/// not help.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private var isPaused = false

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isPaused, let options = context.channel.syncOptions else { return }
    isPaused = true
    try? options.setOption(.autoRead, value: false)
    context.eventLoop.assumeIsolated().scheduleTask(in: Timeouts.acceptPause) { [self] in
      isPaused = false
      // This fails when the daemon has ended in the meantime.
      try? options.setOption(.autoRead, value: true)
    }
  }
}

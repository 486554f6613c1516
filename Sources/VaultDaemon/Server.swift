internal import NIOCore
internal import NIOPosix

/// Accepts clients on the listening socket and gives each a ``Connection``.
enum Server {
  /// Starts to accept. Call on `loop`.
  static func start(
    _ socket: ListeningSocket, service: Service, loop: any EventLoop
  ) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(service, eventLoop: loop)
    return ServerBootstrap(group: loop)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPause())
        }
      }
      .childChannelOption(.allocator, value: WipingAllocator.allocator)
      // A frame is read in one go or is long; a second read would only meet EAGAIN.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      // `printf … | socat` closes its half before the answer comes.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        Peer.of(channel).flatMapThrowing { peer in
          try channel.pipeline.syncOperations.addHandler(Connection(peer: peer, service: bound.value))
        }
      }
      .withBoundSocket(socket.descriptor)
  }
}

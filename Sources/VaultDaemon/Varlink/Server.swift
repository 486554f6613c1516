internal import NIOCore
internal import NIOPosix

/// Accepts clients on the listening socket and gives each a ``VarlinkConnection``.
enum Server {
  /// Starts to accept. Call on `loop`.
  static func start(
    _ socket: ListeningSocket, _ door: VarlinkDoor, loop: any EventLoop
  ) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(door, eventLoop: loop)
    return ServerBootstrap(group: loop)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPause())
        }
      }
      // Between one and the next the others are looked at.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let options = channel.syncOptions
          try options?.setOption(.allocator, value: WipingAllocator.allocator)
          // A frame is read in one go or is long; a second read would only meet EAGAIN.
          try options?.setOption(.maxMessagesPerRead, value: 1)
          // `printf … | socat` closes its half before the answer comes.
          try options?.setOption(.allowRemoteHalfClosure, value: true)
          let socket = ClientSocket(channel)
          let connection = VarlinkConnection(peer: try socket.peer(), door: bound.value)
          connection.socket = socket
          try channel.pipeline.syncOperations.addHandler(connection)
        }
      }
      .withBoundSocket(socket.descriptor)
  }
}

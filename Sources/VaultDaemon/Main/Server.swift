internal import NIOCore
internal import NIOPosix

/// Accepts clients on a listening socket and gives each a handler of the socket's door.
enum Server {
  /// Starts to accept. Call this on `loop`.
  ///
  /// - Parameter handler: makes the handler of one client's channel.
  static func start(
    _ socket: ListeningSocket, loop: any EventLoop, _ backlog: Backlog,
    _ handler: @escaping (any Channel) throws -> any ChannelHandler
  ) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(handler, eventLoop: loop)
    backlog.add(socket.descriptor) { _ = adopt($0, loop: loop, handler) }
    return ServerBootstrap(group: loop)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPause())
        }
      }
      // Other sockets are served between two clients; ``Backlog`` accepts the remaining clients.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try prepare(channel, bound.value)
        }
      }
      .withBoundSocket(socket.descriptor)
  }

  /// Takes over a connection that is already accepted. Call this on `loop`.
  static func adopt(
    _ descriptor: Int32, loop: any EventLoop, _ handler: @escaping (any Channel) throws -> any ChannelHandler
  ) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(handler, eventLoop: loop)
    return ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try prepare(channel, bound.value) }
      }
      .withConnectedSocket(descriptor)
  }

  private static func prepare(
    _ channel: any Channel, _ handler: (any Channel) throws -> any ChannelHandler
  ) throws {
    let options = channel.syncOptions
    try options?.setOption(.allocator, value: WipingAllocator.allocator)
    try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Intake.piece))
    // One read gets a whole frame, unless the frame is long; a second read would only get EAGAIN.
    try options?.setOption(.maxMessagesPerRead, value: 1)
    // `printf … | socat` closes its half before the answer comes, and so does a service manager.
    try options?.setOption(.allowRemoteHalfClosure, value: true)
    try channel.pipeline.syncOperations.addHandler(try handler(channel))
  }
}

internal import CLinux
internal import Glibc
internal import NIOCore

/// Waits for descriptors NIO does not know (timers, signals, later buses) in one thread, and runs their handlers on the
/// event loop.
///
/// A descriptor that became ready is silent until its handler has run on the loop (`EPOLLONESHOT`), so the thread owns
/// nothing, decides nothing and sleeps in `epoll_wait` for as long as nothing happens.
final class Watcher {
  private let loop: any EventLoop
  private let epoll: Int32
  private var handlers: [Int32: () -> Void] = [:]

  /// Call on `loop`; the watcher belongs to it.
  init(loop: any EventLoop) throws(SystemError) {
    self.loop = loop
    epoll = try SystemError.check("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC)))
    let watched = Watched(epoll: epoll, loop: loop, watcher: NIOLoopBound(self, eventLoop: loop))
    var thread = pthread_t()
    // The thread lives as long as the process, and so does what it is handed.
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Watched>.fromOpaque(argument).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passRetained(watched).toOpaque())
    guard failure == 0 else { throw SystemError(call: "pthread_create", code: failure) }
  }

  /// Runs `handler` on the loop each time `descriptor` is readable. The handler has to read it empty.
  func watch(_ descriptor: Int32, _ handler: @escaping () -> Void) throws(SystemError) {
    handlers[descriptor] = handler
    try control(EPOLL_CTL_ADD, descriptor)
  }

  fileprivate func fire(_ descriptor: Int32) {
    handlers[descriptor]?()
    // It was added before, so this can only fail if the descriptor is gone, and then there is nothing to watch.
    try? control(EPOLL_CTL_MOD, descriptor)
  }

  private func control(_ operation: Int32, _ descriptor: Int32) throws(SystemError) {
    var event = epoll_event(
      events: EPOLLIN.rawValue | EPOLLONESHOT.rawValue, data: epoll_data_t(fd: descriptor))
    try SystemError.check("epoll_ctl", unsafe epoll_ctl(epoll, operation, descriptor, &event))
  }
}

/// What the watching thread holds.
private final class Watched: Sendable {
  private let epoll: Int32
  private let loop: any EventLoop
  private let watcher: NIOLoopBound<Watcher>

  init(epoll: Int32, loop: any EventLoop, watcher: NIOLoopBound<Watcher>) {
    self.epoll = epoll
    self.loop = loop
    self.watcher = watcher
  }

  func run() {
    while true {
      var event = epoll_event()
      let count = unsafe epoll_wait(epoll, &event, 1, -1)
      if count < 0 && errno != EINTR { return }
      if count == 1 {
        // `fd` is the member of the union that `control` set.
        let descriptor = unsafe event.data.fd
        let watcher = watcher
        loop.execute { watcher.value.fire(descriptor) }
      }
    }
  }
}

internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultService

/// Waits in one thread for descriptors that NIO does not know (timers, signals, buses), and runs their handlers on the
/// event loop.
///
/// A descriptor that became ready is silent until its handler has run on the loop (`EPOLLONESHOT`). So the thread owns
/// nothing, decides nothing, and sleeps in `epoll_wait` while nothing happens.
final class DescriptorWatcher {
  /// The events that a descriptor is watched for. Errors and hang-ups are always reported.
  struct Readiness: OptionSet {
    let rawValue: UInt32
    static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// An exceptional condition, such as a change of the mount table (proc_pid_mountinfo(5)).
    static let exceptional = Readiness(rawValue: EPOLLPRI.rawValue)
  }

  private struct Watch {
    var events: Readiness
    var handler: () -> Void
    /// False while the descriptor is silent.
    var isArmed = true
  }

  private let loop: any EventLoop
  private let epoll: Int32
  private var watches: [Int32: Watch] = [:]

  /// Makes a watcher, which belongs to `loop`. Call this on the loop.
  init(loop: any EventLoop) throws(SystemError) {
    self.loop = loop
    epoll = try SystemError.check("epoll_create1", epoll_create1(Int32(EPOLL_CLOEXEC)))
    let watched = Watched(epoll: epoll, loop: loop, watcher: NIOLoopBound(self, eventLoop: loop))
    var thread = pthread_t()
    // The thread lives as long as the process, and so does its argument.
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Watched>.fromOpaque(argument).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passRetained(watched).toOpaque())
    guard failure == 0 else { throw SystemError(call: "pthread_create", code: failure) }
  }

  /// Runs `handler` on the loop each time `descriptor` is ready for one of `events`. This replaces an earlier watch of
  /// the descriptor. The handler must clear the cause of the readiness, and must tolerate a call without any cause.
  func watch(
    _ descriptor: Int32, for events: Readiness = .readable, _ handler: @escaping () -> Void
  ) throws(SystemError) {
    watches[descriptor] = Watch(events: events, handler: handler)
    do throws(SystemError) { try arm(descriptor, events) } catch {
      watches[descriptor] = nil
      throw error
    }
  }

  /// Stops watching `descriptor`, which may be closed already.
  func forget(_ descriptor: Int32) {
    guard watches.removeValue(forKey: descriptor) != nil else { return }
    try? control(EPOLL_CTL_DEL, descriptor, [])
  }

  fileprivate func fire(_ descriptor: Int32) {
    watches[descriptor]?.isArmed = false
    watches[descriptor]?.handler()
    // The handler may have watched the descriptor anew.
    guard let watch = watches[descriptor], !watch.isArmed else { return }
    watches[descriptor]?.isArmed = true
    // The descriptor was armed before, so this fails only if it is gone, and then there is nothing to watch.
    try? arm(descriptor, watch.events)
  }

  /// Arms a descriptor. A closed descriptor leaves the kernel's set by itself, and another may have its number by now,
  /// so the kernel is asked if the descriptor is in the set.
  private func arm(_ descriptor: Int32, _ events: Readiness) throws(SystemError) {
    do throws(SystemError) { try control(EPOLL_CTL_MOD, descriptor, events) } catch {
      guard error.code == ENOENT else { throw error }
      try control(EPOLL_CTL_ADD, descriptor, events)
    }
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ events: Readiness) throws(SystemError) {
    // The data is a union; `run` reads the same member.
    var event = unsafe epoll_event(
      events: events.rawValue | EPOLLONESHOT.rawValue, data: epoll_data_t(fd: descriptor))
    try SystemError.check("epoll_ctl", unsafe epoll_ctl(epoll, operation, descriptor, &event))
  }
}

/// The state that the watching thread holds.
private final class Watched: Sendable {
  private let epoll: Int32
  private let loop: any EventLoop
  private let watcher: NIOLoopBound<DescriptorWatcher>

  init(epoll: Int32, loop: any EventLoop, watcher: NIOLoopBound<DescriptorWatcher>) {
    self.epoll = epoll
    self.loop = loop
    self.watcher = watcher
  }

  func run() {
    while true {
      var event = unsafe epoll_event()
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

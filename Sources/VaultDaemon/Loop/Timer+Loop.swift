internal import NIOCore
internal import VaultService

extension Timer {
  /// A timer of `loop`. Call it there.
  init(on loop: any EventLoop) {
    self.init { delay, work in
      let scheduled = loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay), work)
      return { scheduled.cancel() }
    }
  }
}

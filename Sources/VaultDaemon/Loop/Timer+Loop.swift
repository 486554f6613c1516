internal import NIOCore
internal import VaultService

extension Timer {
  /// Makes a timer of `loop`. Call this on the loop.
  init(on loop: any EventLoop) {
    self.init { delay, work in
      let scheduled = loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay), work)
      return { scheduled.cancel() }
    }
  }
}

internal import Glibc
import VaultWire

/// Monitors a vault across restarts of its daemon.
struct Listener: Sendable {
  let location: SocketLocation
  let timeout: Duration?
  /// The time to go without a daemon.
  let patience: Duration
  /// Ends it.
  let interrupt: Interrupt

  /// Hands over the events until `each` says false or the interrupt is raised. `isFirst` marks the present state, the
  /// first reply of each daemon.
  ///
  /// Before the first unlock after its start, a daemon may not know yet what the caller may watch. It answers that it is
  /// locked, and is asked again until it knows.
  func run(_ each: (Vault.Event, _ isFirst: Bool) -> Bool) throws(ClientError) {
    var deadline = Deadline(after: patience)
    while true {
      var isFirst = true
      // A daemon that hangs up at once must not be called in a tight loop.
      var pause = Duration.milliseconds(100)
      do throws(ClientError) {
        var repetition = Repetition()
        var replies = try ReplyStream(
          .monitor, at: location, patience: patience, timeout: timeout, interrupt: interrupt, repetition: &repetition
        ) { Wire.Empty().write(to: &$0) }
        while let response = try replies.next(timeout: nil) {
          guard each(try response.decode(), isFirst) else { return }
          isFirst = false
        }
        throw ClientError.disconnected
      } catch {
        if interrupt.isRaised { return }
        let isLocked = if isFirst, case .fault(.locked) = error { true } else { false }
        // However long a daemon was there, the time without one begins now.
        if !isFirst || isLocked { deadline = Deadline(after: patience) }
        guard isLocked || error == .disconnected && !deadline.hasPassed else { throw error }
        if isLocked { pause = .seconds(1) }
      }
      interrupt.wait(pause)
    }
  }

  /// Runs `body` on a new thread, which takes no signals from the program's others.
  static func startThread(_ body: @escaping @Sendable () -> Void) throws(ClientError) {
    let box = unsafe Unmanaged.passRetained(Box(body))
    var (all, old) = (sigset_t(), sigset_t())
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    var thread = pthread_t()
    // The box was retained for the new thread, which releases it.
    let code = unsafe pthread_create(
      &thread, nil,
      { raw in
        guard let raw = unsafe raw else { return nil }
        unsafe Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
        return nil
      }, unsafe box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw .system("pthread_create", errno: code)
    }
    pthread_detach(thread)
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

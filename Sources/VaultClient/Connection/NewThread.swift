internal import Glibc

/// Starts threads beside the program's own.
package enum NewThread {
  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread, which handles none of the program's signals.
  package static func run(_ body: @escaping @Sendable () -> Void) throws(ClientError) {
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
}

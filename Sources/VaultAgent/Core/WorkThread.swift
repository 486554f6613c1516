internal import Glibc

/// A thread that blocks in its work, and is waited for.
@safe final class WorkThread {
  private var thread = pthread_t()

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread; nil where there is no room for one.
  init?(_ body: @escaping @Sendable () -> Void) {
    let box = unsafe Unmanaged.passRetained(Box(body))
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
      return nil
    }
  }

  /// Waits for its end. Call it once.
  func join() { pthread_join(thread, nil) }
}

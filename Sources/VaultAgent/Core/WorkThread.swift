internal import Glibc

/// A thread that may block in its work, and that can be waited for.
@safe final class WorkThread {
  private var thread = pthread_t()

  private final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread; nil when no thread can be made.
  ///
  /// Until ``join()`` has returned, only the new thread may use what `body` captures, except for sendable values.
  init?(_ body: @escaping () -> Void) {
    // The new thread takes over the retain count; if there is no thread, the count is released here.
    let box = unsafe Unmanaged.passRetained(Box(body))
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, unsafe box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      return nil
    }
  }

  /// Waits for the end of the thread. Call this once.
  func join() { pthread_join(thread, nil) }
}

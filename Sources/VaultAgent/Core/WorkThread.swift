internal import Glibc

/// A thread that blocks in its work, and is waited for.
@safe final class WorkThread {
  private var thread = pthread_t()

  private final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }

  /// Runs `body` on a new thread; nil where there is no room for one.
  ///
  /// What `body` holds is the thread's alone until ``join()`` has returned, but for what can be sent.
  init?(_ body: @escaping () -> Void) {
    // The thread takes the count over; where there is none, it is given back here.
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

  /// Waits for its end. Call it once.
  func join() { pthread_join(thread, nil) }
}

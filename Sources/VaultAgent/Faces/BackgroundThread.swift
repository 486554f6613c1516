internal import Glibc

/// A thread that somebody waits for.
@safe final class BackgroundThread {
  private var thread = pthread_t()

  /// Starts `body`; nil when there is no room for a thread.
  init?(_ body: @escaping () -> Void) {
    final class Box {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
    }
    // The thread takes the count over; where there is none, it is given back here.
    let box = unsafe Unmanaged.passRetained(Box(body))
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      return nil
    }
  }

  /// Waits for its end. Call once.
  func join() { pthread_join(thread, nil) }
}

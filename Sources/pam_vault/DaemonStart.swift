import CLinux

extension User {
  /// Starts `vaultd` in its own session and waits until the daemon listens or has ended, or the time is up.
  ///
  /// The worker calls this as the user. The daemon outlives the worker.
  borrowing func startDaemon(until deadline: Deadline) {
    var ends: (Int32, Int32) = (-1, -1)
    let made = unsafe withUnsafeMutablePointer(to: &ends) {
      unsafe $0.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe pipe2($0, O_CLOEXEC) }
    }
    guard made == 0 else { return }
    let child = vault_clone()
    if child == 0 {
      setsid()
      // Checking the socket's directory may have made it the current directory.
      unsafe chdir(("/" as StaticString).cString)
      // This replaces the pipe for the worker's report, which the daemon must not hold open.
      guard dup2(ends.1, 3) == 3, close_range(4, .max, 0) == 0 else { _exit(127) }
      var arguments = unsafe (
        vaultd, ("--ready-fd" as StaticString).cString, ("3" as StaticString).cString,
        ("--log" as StaticString).cString, ("auto" as StaticString).cString, nil as UnsafePointer<CChar>?
      )
      unsafe withUnsafeMutablePointer(to: &arguments) {
        // Six adjacent pointers, as execve(2) expects them; execve(2) only reads them.
        unsafe $0.withMemoryRebound(to: UnsafeMutablePointer<CChar>?.self, capacity: 6) {
          _ = unsafe execve(vaultd, $0, environment)
        }
      }
      _exit(127)
    }
    close(ends.1)
    var byte: UInt8 = 0
    if child > 0, deadline.wait(for: POLLIN, on: ends.0) { unsafe _ = read(ends.0, &byte, 1) }
    close(ends.0)
  }
}

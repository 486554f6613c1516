// pam_vault.so also contains this file: there it is Embedded Swift, without a run-time library, in a process that must
// not take memory from the heap.

/// The environment variables that a daemon takes over from the process that starts it.
///
/// The daemon outlives the script or the login that happened to need it, and it holds the keys. So it gets only the
/// variables that name the user, the user's language, and the user's files and buses. It gets no `LD_PRELOAD`, which
/// would load code into it and can come from a user's file that pam_env(8) reads. It gets no `NOTIFY_SOCKET`, because
/// it would then report its readiness to an unrelated service manager.
enum DaemonVariables {
  /// Returns true when `variable`, which is `NAME=value`, is passed on.
  static func pass(_ variable: UnsafePointer<CChar>) -> Bool {
    unsafe begins(variable, "HOME=") || begins(variable, "USER=") || begins(variable, "LOGNAME=")
      || begins(variable, "LANG=") || begins(variable, "LC_") || begins(variable, "XDG_")
      || begins(variable, "DBUS_SESSION_BUS_ADDRESS=") || begins(variable, "DBUS_SYSTEM_BUS_ADDRESS=")
      || begins(variable, "SECRET_SERVICE_BUS_NAME=")
  }

  /// Returns true when a C string begins with `text`.
  static func begins(_ string: UnsafePointer<CChar>, _ text: StaticString) -> Bool {
    for index in 0..<text.utf8CodeUnitCount {
      // The first different byte ends the loop, so it never reads past the string's own NUL.
      guard unsafe UInt8(bitPattern: string[index]) == text.utf8Start[index] else { return false }
    }
    return true
  }
}

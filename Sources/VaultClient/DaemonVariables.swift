// pam_vault.so is built with this file, too: Embedded Swift, without a run-time library, in a process that must not take
// memory from the heap.

/// The variables that a daemon gets of the environment of whoever starts it.
///
/// It outlives the script or the login that happened to need it and holds the keys, so it gets what says where the user's
/// files and buses are, and nothing else: no `LD_PRELOAD`, which would load into it, also not out of a file of the user's
/// that pam_env(8) reads, and no `NOTIFY_SOCKET`, over which it would tell somebody else's service manager that it is ready.
enum DaemonVariables {
  /// True when `variable`, which is `NAME=value`, is passed on.
  static func pass(_ variable: UnsafePointer<CChar>) -> Bool {
    unsafe begins(variable, "HOME=") || begins(variable, "USER=") || begins(variable, "LOGNAME=")
      || begins(variable, "LANG=") || begins(variable, "LC_") || begins(variable, "XDG_")
      || begins(variable, "DBUS_SESSION_BUS_ADDRESS=") || begins(variable, "DBUS_SYSTEM_BUS_ADDRESS=")
      || begins(variable, "SECRET_SERVICE_BUS_NAME=")
  }

  /// True when a C string begins with `text`.
  static func begins(_ string: UnsafePointer<CChar>, _ text: StaticString) -> Bool {
    for index in 0..<text.utf8CodeUnitCount {
      // The first that differs ends it, so nothing behind the string's own zero is looked at.
      guard unsafe UInt8(bitPattern: string[index]) == text.utf8Start[index] else { return false }
    }
    return true
  }
}

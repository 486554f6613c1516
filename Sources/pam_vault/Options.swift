import CLinux

/// The words behind the module's name in a file of /etc/pam.d. It passes over those it does not know.
@safe struct Options {
  /// The program to start where no daemon listens: `vaultd=PATH`, else the one it was built for.
  private(set) var vaultd: UnsafePointer<CChar> = unsafe daemonPath.cString

  /// PAM keeps the arguments for as long as the module is loaded.
  init(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    guard let arguments = unsafe arguments else { return }
    let name: StaticString = "vaultd=/"
    for index in 0..<Int(count) {
      guard let argument = unsafe arguments[index] else { continue }
      if unsafe strncmp(argument, name.cString, name.utf8CodeUnitCount) == 0 {
        unsafe vaultd = argument + (name.utf8CodeUnitCount - 1)
      }
    }
  }
}

import CLinux

/// The arguments after the module's name in a file of /etc/pam.d. Unknown arguments are ignored.
@safe struct Options {
  /// The program to start when no daemon listens: from `vaultd=PATH`, or else the path set at build time.
  private(set) var vaultd: UnsafePointer<CChar> = unsafe daemonPath.cString

  /// Reads the arguments. PAM keeps them for as long as the module is loaded.
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

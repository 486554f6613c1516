import CPAM

/// The password that a login leaves for its session. PAM keeps it beside the handle, and wipes it with the handle.
enum Login {
  /// The name of the password that the user logged in with, or has just chosen.
  static let password: StaticString = "vault_login_password"
  /// The name of the previous password, when the user changed it during the login.
  static let oldPassword: StaticString = "vault_old_password"

  /// Keeps `bytes` in place of any bytes already kept under this name.
  static func keep(_ bytes: consuming WipedBytes, as name: StaticString, _ pamh: OpaquePointer) {
    var bytes = bytes
    let base = unsafe bytes.release()
    let result = unsafe pam_set_data(pamh, name.cString, base) { _, data, _ in
      if let data = unsafe data { _ = unsafe WipedBytes(adopting: data) }
    }
    if result != PAM_SUCCESS { _ = unsafe WipedBytes(adopting: base) }
  }

  /// Removes and returns the bytes that are kept under this name.
  static func take(_ name: StaticString, _ pamh: OpaquePointer) -> WipedBytes? {
    var data: UnsafeRawPointer?
    guard unsafe pam_get_data(pamh, name.cString, &data) == PAM_SUCCESS, let data = unsafe data else { return nil }
    var bytes = unsafe WipedBytes(adopting: UnsafeMutableRawPointer(mutating: data))
    // Setting the data to nothing runs the cleanup above, which wipes the bytes, so they are copied first.
    let copy = bytes.copy()
    _ = unsafe bytes.release()
    unsafe pam_set_data(pamh, name.cString, nil, nil)
    return copy
  }

  /// Returns true when a password was kept, so that a session may follow.
  static func isUnderWay(_ pamh: OpaquePointer) -> Bool {
    var data: UnsafeRawPointer?
    return unsafe pam_get_data(pamh, password.cString, &data) == PAM_SUCCESS && data != nil
  }
}

extension StaticString {
  /// The literal as a C string. An ASCII literal without interpolation is stored with a NUL after it.
  var cString: UnsafePointer<CChar> { unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

import CPAM

/// The secret that a login leaves for its session: PAM keeps it beside the handle, and wipes it with the handle.
enum Login {
  /// The password that the user came in with, or has just chosen.
  static let password: StaticString = "vault_login_password"
  /// The one before that, when it was changed on the way in.
  static let oldPassword: StaticString = "vault_old_password"

  /// Keeps `bytes`, in place of what was kept before under this name.
  static func keep(_ bytes: consuming WipedBytes, as name: StaticString, _ pamh: OpaquePointer) {
    var bytes = bytes
    let base = unsafe bytes.release()
    let result = unsafe pam_set_data(pamh, name.cString, base) { _, data, _ in
      if let data = unsafe data { _ = unsafe WipedBytes(adopting: data) }
    }
    if result != PAM_SUCCESS { _ = unsafe WipedBytes(adopting: base) }
  }

  /// Takes out what is kept.
  static func take(_ name: StaticString, _ pamh: OpaquePointer) -> WipedBytes? {
    var data: UnsafeRawPointer?
    guard unsafe pam_get_data(pamh, name.cString, &data) == PAM_SUCCESS, let data = unsafe data else { return nil }
    var bytes = unsafe WipedBytes(adopting: UnsafeMutableRawPointer(mutating: data))
    // Setting it to nothing runs the cleanup above, which would wipe what was just taken: so it is copied first.
    let copy = bytes.copy()
    _ = unsafe bytes.release()
    unsafe pam_set_data(pamh, name.cString, nil, nil)
    return copy
  }

  /// True when a password was kept, so that a session may come.
  static func isUnderWay(_ pamh: OpaquePointer) -> Bool {
    var data: UnsafeRawPointer?
    return unsafe pam_get_data(pamh, password.cString, &data) == PAM_SUCCESS && data != nil
  }
}

extension StaticString {
  /// As C takes it. A literal in ASCII without interpolation is stored with a NUL behind it.
  var cString: UnsafePointer<CChar> { unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}

import CLinux
import CPAM

// The functions that PAM calls. They are for `optional` lines: none of them makes a login fail, and those that could
// make one succeed return PAM_IGNORE.

/// Keeps the password that earlier modules asked for. It asks for nothing itself.
@c(pam_sm_authenticate)
public func authenticate(
  _ pamh: OpaquePointer?, _ flags: Int32, _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
  guard let pamh = unsafe pamh, let uid = unsafe User.uid(pamh) else { return PAM_IGNORE }
  guard let password = unsafe WipedBytes(item: PAM_AUTHTOK, pamh, owner: uid) else { return PAM_IGNORE }
  unsafe Login.keep(password, as: Login.password, pamh)
  return PAM_IGNORE
}

@c(pam_sm_setcred)
public func setCredentials(
  _ pamh: OpaquePointer?, _ flags: Int32, _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 { PAM_IGNORE }

@c(pam_sm_acct_mgmt)
public func manageAccount(
  _ pamh: OpaquePointer?, _ flags: Int32, _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 { PAM_IGNORE }

/// Opens the vault with the kept password, and forgets the password.
@c(pam_sm_open_session)
public func openSession(
  _ pamh: OpaquePointer?, _ flags: Int32, _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
  guard let pamh = unsafe pamh else { return PAM_SUCCESS }
  let old = unsafe Login.take(Login.oldPassword, pamh)
  guard let password = unsafe Login.take(Login.password, pamh) else { return PAM_SUCCESS }
  // sudo asks one user for a password and begins a session for another.
  guard let user = unsafe User(pamh, Options(argc, argv)), user.uid == password.owner else { return PAM_SUCCESS }
  let isNew = old != nil
  guard let errand = Errand(isNew ? .rewrapAndUnlock : .unlock, old: old, password: password) else {
    return PAM_SUCCESS
  }
  unsafe Worker.run(errand, for: user).log(pamh)
  return PAM_SUCCESS
}

/// Does nothing. The vault locks by its own rules, not at the end of a session, because another session of the same
/// user may go on.
@c(pam_sm_close_session)
public func closeSession(
  _ pamh: OpaquePointer?, _ flags: Int32, _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 { PAM_SUCCESS }

/// Updates the login slot after a change of the login password.
@c(pam_sm_chauthtok)
public func changeToken(
  _ pamh: OpaquePointer?, _ flags: Int32, _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int32 {
  guard let pamh = unsafe pamh, flags & PAM_UPDATE_AUTHTOK != 0 else { return PAM_IGNORE }
  guard let user = unsafe User(pamh, Options(argc, argv)),
    let password = unsafe WipedBytes(item: PAM_AUTHTOK, pamh, owner: user.uid)
  else { return PAM_IGNORE }
  let old = unsafe WipedBytes(item: PAM_OLDAUTHTOK, pamh, owner: user.uid)
  if unsafe Login.isUnderWay(pamh) {
    // The user changes an expired password during the login. The passwords are kept, because the user's directories
    // exist only once the session begins.
    if let old { unsafe Login.keep(old, as: Login.oldPassword, pamh) }
    unsafe Login.keep(password, as: Login.password, pamh)
    return PAM_IGNORE
  }
  let isKnown = old != nil
  guard let errand = Errand(isKnown ? .rewrap : .markStale, old: old, password: password) else { return PAM_IGNORE }
  unsafe Worker.run(errand, for: user).log(pamh)
  return PAM_IGNORE
}

import CLinux
import CPAM

/// The user who logs in, with every fact that takes memory to find out. The facts are looked up before the worker
/// process is made, because that process takes no memory.
@safe struct User: ~Copyable {
  let uid: uid_t
  let gid: gid_t
  let vaultd: UnsafePointer<CChar>
  /// The directory of the user's socket.
  let directory: UnsafePointer<CChar>
  /// The path of the vault's file, unless the daemon was told another one.
  let store: UnsafePointer<CChar>
  private let groupMemory: WipedBytes
  private(set) var groupCount: Int32
  private let variables: Variables

  var groups: UnsafeMutablePointer<gid_t> { unsafe groupMemory.raw.assumingMemoryBound(to: gid_t.self) }
  /// The environment of a daemon that the worker starts.
  var environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { unsafe variables.list }

  /// The user of this login; nil when there is none, or no memory.
  init?(_ pamh: OpaquePointer, _ options: Options) {
    guard let entry = unsafe User.entry(pamh), var variables = Variables(), let groupMemory = WipedBytes() else {
      return nil
    }
    let (uid, gid) = unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
    unsafe variables.add(pamh)
    unsafe variables.addMissing("HOME=", entry.pointee.pw_dir)
    unsafe variables.addMissing("USER=", entry.pointee.pw_name)
    unsafe variables.addMissing("LOGNAME=", entry.pointee.pw_name)
    unsafe variables.addMissing("PATH=", ("/usr/local/bin:/usr/bin:/bin" as StaticString).cString)
    variables.addMissing("XDG_RUNTIME_DIR=/run/user/", number: uid)
    guard let directory = unsafe variables.path("XDG_RUNTIME_DIR=", "/vault"),
      let store = unsafe variables.path("XDG_DATA_HOME=", "/vault/vault.db")
        ?? variables.path("HOME=", "/.local/share/vault/vault.db")
    else { return nil }
    var groupCount = Int32(groupMemory.room / MemoryLayout<gid_t>.stride)
    let groups = unsafe groupMemory.raw.assumingMemoryBound(to: gid_t.self)
    guard unsafe getgrouplist(entry.pointee.pw_name, gid, groups, &groupCount) >= 0 else { return nil }
    (self.uid, self.gid, self.groupCount) = (uid, gid, groupCount)
    unsafe (vaultd, self.directory, self.store) = (options.vaultd, directory, store)
    self.groupMemory = groupMemory
    self.variables = variables
  }

  /// The uid of the user whom PAM authenticates; nil when PAM knows of none.
  static func uid(_ pamh: OpaquePointer) -> uid_t? { unsafe entry(pamh).map { unsafe $0.pointee.pw_uid } }

  /// The user's passwd entry, which PAM keeps for as long as the handle.
  private static func entry(_ pamh: OpaquePointer) -> UnsafeMutablePointer<passwd>? {
    var name: UnsafeRawPointer?
    // pam_get_item is used because pam_get_user would ask for a name.
    guard unsafe pam_get_item(pamh, PAM_USER, &name) == PAM_SUCCESS, let name = unsafe name else { return nil }
    return unsafe pam_modutil_getpwnam(pamh, name.assumingMemoryBound(to: CChar.self))
  }
}

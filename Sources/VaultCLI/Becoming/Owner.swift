internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The user for whom root has a file written: this process becomes that user for good.
enum Owner {
  /// The most bytes of passwd(5) and of group(5).
  private static let limit = 16 << 20
  /// The variables of root's environment that the user's programs get. All others may name root's files or be secrets.
  private static let kept = [
    "PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
    "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME", "TZ", "TERM",
    "NO_COLOR",
    "VAULT_SOCKET",
  ]

  /// Becomes the user that `text` names, with all groups and without a way back. The daemon sees that user and no
  /// other. Before the change, only passwd(5) and group(5) are read.
  ///
  /// - Throws: ``Failure`` if root does not own the process, there is no such user, or any right of root remains.
  static func become(_ text: String) throws(Failure) {
    guard geteuid() == 0 else {
      throw Failure(.denied, "only root can write a file as somebody else", "leave --owner out, or run it as root")
    }
    let account = try Account(
      text, passwd: try Self.text(of: "/etc/passwd"), group: try Self.text(of: "/etc/group"))
    guard account.uid != 0 else { throw Failure(.usage, "root needs no --owner", "leave it out") }
    // Otherwise, programs that run as that user could still reach the keys of root's session keyring.
    _ = vault_new_session_keyring()
    let groups = [account.gid] + account.groups
    guard unsafe vault_set_groups(Int32(groups.count), groups) == 0, vault_set_gids(account.gid) == 0,
      vault_set_uids(account.uid) == 0, vault_drop_capabilities() == 0
    else {
      throw Failure(.denied, "cannot become \(Printable.quoted(text)): \(Output.describe(errno))")
    }
    guard isWholly(account, groups) else {
      throw Failure(.software, "some of root's rights are left after becoming \(Printable.quoted(text))", "report this")
    }
    // The change of user made the kernel reset the process's `dumpable` flag.
    _ = vault_set_not_dumpable()
    setEnvironment(of: account)
  }

  private static func isWholly(_ account: Account, _ groups: [gid_t]) -> Bool {
    var (real, effective, saved): (UInt32, UInt32, UInt32) = (0, 0, 0)
    guard unsafe getresuid(&real, &effective, &saved) == 0, Set([real, effective, saved]) == [account.uid],
      unsafe getresgid(&real, &effective, &saved) == 0, Set([real, effective, saved]) == [account.gid]
    else { return false }
    var present = [gid_t](repeating: 0, count: 65536)
    let count = unsafe getgroups(Int32(present.count), &present)
    guard count >= 0, Set(present.prefix(Int(count))) == Set(groups) else { return false }
    // No capability may remain, and a return to uid 0 must fail.
    return vault_capabilities() == 0 && vault_set_uids(0) != 0
  }

  /// Replaces the environment. The process has no other thread yet, and nobody keeps a pointer into the environment.
  private static func setEnvironment(of account: Account) {
    // Each value is copied before the environment is cleared, and freed after setenv(3) has copied it again.
    let values = unsafe kept.map { name in unsafe (name, getenv(name).flatMap { unsafe strdup($0) }) }
    clearenv()
    for unsafe(name, value) in unsafe values {
      guard let value = unsafe value else { continue }
      unsafe setenv(name, value, 1)
      unsafe free(value)
    }
    unsafe setenv("HOME", account.home ?? "/", 1)
    if let user = account.name { for name in ["USER", "LOGNAME"] { unsafe setenv(name, user, 1) } }
  }

  /// Reads a file as text. Bytes that are not UTF-8 are harmless in another user's entry.
  private static func text(of path: String) throws(Failure) -> String {
    let content = try FileInput.readFile(path, limit: limit)
    return content.withBytes { bytes in
      // The bytes are lent for the call, and `String` copies them.
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }
}

internal import Glibc
internal import VaultWire

/// The name service's answers about users. It blocks for as long as that takes.
enum UserName {
  static func of(_ uid: uid_t) -> String? { Account.of(uid)?.name }
}

/// A user's entry in the name service.
struct Account: Equatable {
  var name: String
  var home: String

  static func of(_ uid: uid_t) -> Account? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    // Far more than any entry of a user who logs in.
    var text = [CChar](repeating: 0, count: 64 << 10)
    return unsafe text.withUnsafeMutableBufferPointer { text -> Account? in
      guard unsafe getpwuid_r(uid, &entry, text.baseAddress!, text.count, &found) == 0, unsafe found != nil,
        let name = unsafe entry.pw_name
      else { return nil }
      let home = unsafe entry.pw_dir.map { unsafe String(cString: $0) } ?? ""
      return Account(name: unsafe String(cString: name), home: home)
    }
  }

  /// The reason why the machine's vault is not served as this account, if it has the name of the vault's and was made
  /// for something else. An administrator may have the vault run as one of another name.
  var problemAsVault: String? {
    if name != SystemAccount.name || SystemAccount.isOwn(name: name, home: home) { return nil }
    return """
      the account `\(name)` has the home \(home) and not \(SystemAccount.home), so it was made for something else; \
      rename or remove it, and run systemd-sysusers
      """
  }
}

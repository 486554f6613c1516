internal import Glibc
internal import VaultWire

/// The names of users in the name service. A call blocks until the service answers.
enum UserName {
  static func of(_ uid: uid_t) -> String? { Account.of(uid)?.name }
}

/// A user's entry in the name service.
struct Account: Equatable {
  var name: String
  var home: String

  static func of(_ uid: uid_t) -> Account? {
    unsafe Lookup.entry(passwd()) { entry, text, found in
      unsafe getpwuid_r(uid, entry, text.baseAddress!, text.count, found)
    } _: { entry in
      guard let name = unsafe entry.pw_name else { return nil }
      let home = unsafe entry.pw_dir.map { unsafe String(cString: $0) } ?? ""
      return unsafe Account(name: String(cString: name), home: home)
    }
  }

  /// The reason why the machine's vault is not served as this account: it has the name of the vault's account, but was
  /// made for something else. An administrator may let an account with another name run the vault.
  var problemAsVault: String? {
    if name != SystemAccount.name || SystemAccount.isOwn(name: name, home: home) { return nil }
    return """
      the account `\(name)` has the home \(home) and not \(SystemAccount.home), so it was made for something else; \
      rename or remove it, and run systemd-sysusers
      """
  }
}

/// The users and groups of the machine in the name service. A call blocks until the service answers.
enum Accounts {
  static func user(_ name: String) -> UInt32? {
    unsafe Lookup.entry(passwd()) { entry, text, found in
      unsafe getpwnam_r(name, entry, text.baseAddress!, text.count, found)
    } _: {
      unsafe $0.pw_uid
    }
  }

  static func group(_ name: String) -> UInt32? {
    unsafe Lookup.entry(Glibc.group()) { entry, text, found in
      unsafe getgrnam_r(name, entry, text.baseAddress!, text.count, found)
    } _: {
      unsafe $0.gr_gid
    }
  }

  /// The group whose members administer the machine's vault; nil when it does not exist.
  static var administrators: UInt32? { group(SystemAccount.administrators) }

  static func groupName(_ gid: UInt32) -> String? {
    unsafe Lookup.entry(Glibc.group()) { entry, text, found in
      unsafe getgrgid_r(gid, entry, text.baseAddress!, text.count, found)
    } _: {
      unsafe $0.gr_name.map { unsafe String(cString: $0) }
    }
  }

  /// All groups that a user's processes have after a login; empty for an unknown user.
  static func groups(of uid: UInt32) -> [UInt32] {
    guard let (name, group) = login(of: uid) else { return [] }
    var groups = [gid_t](repeating: 0, count: 64)
    while true {
      var count = Int32(groups.count)
      if unsafe getgrouplist(name, group, &groups, &count) >= 0 { return Array(groups.prefix(Int(count))) }
      guard Int(count) > groups.count else { return [] }
      groups = [gid_t](repeating: 0, count: Int(count))
    }
  }

  /// The name and the primary group of a user.
  private static func login(of uid: UInt32) -> (name: String, group: gid_t)? {
    unsafe Lookup.entry(passwd()) { entry, text, found in
      unsafe getpwuid_r(uid, entry, text.baseAddress!, text.count, found)
    } _: { entry in
      unsafe entry.pw_name.map { unsafe (String(cString: $0), entry.pw_gid) }
    }
  }
}

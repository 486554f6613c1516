internal import Glibc
internal import VaultWire

/// A user of this machine, as the name service knows it.
struct Account {
  let name: String
  let uid: uid_t
  let home: String

  /// The account with this uid; nil when there is none, or the name service does not answer.
  init?(uid: uid_t) {
    unsafe self.init { entry, text, size, found in unsafe getpwuid_r(uid, entry, text, size, found) }
  }

  /// The account with this name; nil when there is none, or the name service does not answer.
  init?(name: String) {
    unsafe self.init { entry, text, size, found in unsafe getpwnam_r(name, entry, text, size, found) }
  }

  /// The account of the machine's vault; nil when there is none, or when an account only happens to have its name.
  static var ofSystemVault: Account? {
    guard let account = Account(name: SystemAccount.name),
      SystemAccount.isOwn(name: account.name, home: account.home)
    else { return nil }
    return account
  }

  private typealias Lookup = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  private init?(_ look: Lookup) {
    // An entry larger than a megabyte can only be a mistake.
    var size = 4096
    while size <= 1 << 20 {
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: size)
      defer { unsafe text.deallocate() }
      var entry = unsafe passwd()
      var found: UnsafeMutablePointer<passwd>?
      let code = unsafe look(&entry, text, size, &found)
      if code == ERANGE {
        size *= 4
        continue
      }
      // The entry's strings lie in `text`; `String` copies them.
      guard code == 0, unsafe found != nil, let name = unsafe entry.pw_name else { return nil }
      self.name = unsafe String(cString: name)
      uid = unsafe entry.pw_uid
      home = unsafe entry.pw_dir.map { unsafe String(cString: $0) } ?? ""
      return
    }
    return nil
  }
}

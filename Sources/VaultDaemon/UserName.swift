internal import Glibc

/// The names of users. It blocks for as long as the name service takes.
enum UserName {
  static func of(_ uid: uid_t) -> String? {
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    // Far more than any entry of a user who logs in.
    var text = [CChar](repeating: 0, count: 64 << 10)
    return unsafe text.withUnsafeMutableBufferPointer { text -> String? in
      guard unsafe getpwuid_r(uid, &entry, text.baseAddress!, text.count, &found) == 0, unsafe found != nil,
        let name = unsafe entry.pw_name
      else { return nil }
      return unsafe String(cString: name)
    }
  }
}

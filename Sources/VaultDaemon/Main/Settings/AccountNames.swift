/// A cache of the names of users and groups, for one turn of an answer or for one second. Each is looked up once,
/// because the name service reads a file for each name, or asks another machine.
final class AccountNames {
  private var users: [UInt32: String?] = [:]
  private var groups: [UInt32: String?] = [:]
  private let findUser: (UInt32) -> String?

  /// - Parameter findUser: looks up a user. Tests put in another function.
  init(user findUser: @escaping (UInt32) -> String? = UserName.of) { self.findUser = findUser }

  func user(_ uid: UInt32) -> String? { Self.look(uid, &users, findUser) }

  func group(_ gid: UInt32) -> String? { Self.look(gid, &groups, Accounts.groupName) }

  private static func look(
    _ number: UInt32, _ known: inout [UInt32: String?], _ find: (UInt32) -> String?
  ) -> String? {
    if let name = known[number] { return name }
    let name = find(number)
    known[number] = .some(name)
    return name
  }
}

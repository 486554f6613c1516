internal import CLinux
internal import Glibc
internal import VaultModel

/// A user of the machine, as passwd(5) and group(5) list it. A static program cannot ask the name service for other
/// users, so they are given by their numbers.
struct Account: Equatable {
  let uid: uid_t
  let gid: gid_t
  /// The supplementary groups, without `gid`.
  var groups: [gid_t] = []
  /// The user's name; nil for a user that is given by numbers and has no entry.
  var name: String?
  var home: String?

  /// Finds the user that a text names: a name, a number, or a number with a group's number as in `997:993`. The last
  /// form gives the user no supplementary groups.
  ///
  /// - Parameters:
  ///   - passwd: a text in the format of passwd(5).
  ///   - group: a text in the format of group(5).
  /// - Throws: ``Failure`` if there is no such user.
  init(_ text: String, passwd: String, group: String) throws(Failure) {
    let entry = Self.entry(text, in: passwd)
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
    let given = numbers.count == 2 ? Self.number(numbers[1]) : nil
    if let entry {
      (uid, gid) = (entry.uid, given ?? entry.gid)
      (name, home) = (entry.name, entry.home)
      // Two numbers give the user exactly that group, even if passwd(5) and group(5) list others.
      if given == nil { groups = Self.groups(of: entry.name, in: group) }
    } else if let uid = Self.number(numbers[0]), let given {
      (self.uid, gid) = (uid, given)
    } else if Self.number(text[...]) != nil {
      throw Failure(.missing, "uid \(text) is not in /etc/passwd", "give its group, too, as in \(text):993")
    } else {
      throw Failure(
        .missing, "there is no user \(Printable.quoted(text)) in /etc/passwd",
        "if another service knows the user, give the user's numbers, as in 997:993")
    }
    groups.removeAll { $0 == gid }
  }

  /// The name of a user in passwd(5); nil if it has no entry there.
  static func name(of uid: uid_t) -> String? {
    // With the colon, the text is no user's name, even if some name has only digits.
    FileInput.text(of: "/etc/passwd").flatMap { entry("\(uid):", in: $0)?.name }
  }

  private struct Entry {
    let name: String
    let uid: uid_t
    let gid: gid_t
    let home: String
  }

  /// Returns the first entry of that name or, if there is none, of that number.
  private static func entry(_ text: String, in passwd: String) -> Entry? {
    let number = number(text.prefix { $0 != ":" })
    var numbered: Entry?
    for line in passwd.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 7, let uid = Self.number(fields[2]), let gid = Self.number(fields[3]) else { continue }
      let entry = Entry(name: String(fields[0]), uid: uid, gid: gid, home: String(fields[5]))
      if fields[0].utf8.elementsEqual(text.utf8) { return entry }
      if numbered == nil, uid == number { numbered = entry }
    }
    return numbered
  }

  private static func groups(of name: String, in group: String) -> [gid_t] {
    var groups: [gid_t] = []
    for line in group.split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 4, let gid = number(fields[2]) else { continue }
      let members = fields[3].split(separator: ",")
      if members.contains(where: { $0.utf8.elementsEqual(name.utf8) }), !groups.contains(gid) { groups.append(gid) }
    }
    return groups
  }

  /// Parses digits only. The highest number is refused, because setresuid(2) takes it for "unchanged".
  private static func number(_ text: Substring) -> UInt32? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(text),
      number != .max
    else { return nil }
    return number
  }
}

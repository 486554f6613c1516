/// The callers that a grant is for: those that meet all parts, such as `user:990,unit:iothome.service`.
///
/// | part | condition on a process |
/// |---|---|
/// | `user:990` | its uid is 990 |
/// | `group:995` | it had the group 995 when it connected |
/// | `unit:iothome.service` | it belongs to that unit of the service manager |
/// | `exe:/usr/bin/dashboard` | it runs that file, as far as that can be determined: see vault-access(7) |
/// | `sha256:…` | it runs a file with that digest, as far as that can be determined |
///
/// In the text, the parts have this order, without repetition; uids and gids are numbers.
public struct Subject: Hashable, Sendable, CustomStringConvertible {
  /// One condition of a subject.
  public enum Part: Hashable, Sendable {
    case user(UInt32)
    case group(UInt32)
    case unit(String)
    /// The absolute path of the program's file, without symbolic links, as the kernel reports it.
    case executable(String)
    /// The SHA-256 of the program's file: 64 lower-case hexadecimal digits.
    case digest(String)
  }

  /// The highest number of parts.
  public static let maximumParts = 8
  /// The longest text in bytes.
  public static let maximumBytes = 1024

  /// The conditions, in the order of the text; never empty.
  public let parts: [Part]

  /// The text of the parts, separated by commas.
  public let description: String

  /// Sorts the parts into order.
  ///
  /// - Throws: ``ValueError`` for no parts or too many; for two users, units or programs, which no process has; and for
  ///   a program without a user or a unit, unless the subject only selects.
  public init(_ parts: [Part], onlySelects: Bool = false) throws(ValueError) {
    let unique = Set(parts)
    guard !unique.isEmpty else { throw ValueError(reason: "a subject is missing") }
    guard unique.count <= Self.maximumParts else {
      throw ValueError(reason: "a subject has at most \(Self.maximumParts) parts")
    }
    var kinds: Set<String> = []
    for part in unique {
      if case .group = part { continue }
      guard kinds.insert(part.kind).inserted else {
        throw ValueError(reason: "no process has two of '\(part.kind):'; give several grants for several subjects")
      }
    }
    self.parts = unique.sorted { ($0.order, $0.text) < ($1.order, $1.text) }
    description = self.parts.map(\.text).joined(separator: ",")
    guard description.utf8.count <= Self.maximumBytes else {
      throw ValueError(reason: "a subject has at most \(Self.maximumBytes) bytes")
    }
    if !onlySelects, namesProgram, !kinds.contains("user"), !kinds.contains("unit") {
      throw ValueError(
        reason: "what a process runs counts only together with user: or unit:, as in 'user:NAME,\(description)'")
    }
  }

  /// Reads a text, in which users and groups may also be given by name.
  ///
  /// - Parameters:
  ///   - user: Returns the uid of a name.
  ///   - group: Returns the gid of a name.
  ///   - onlySelects: True for a subject that gives nobody a right, and so may be a program of whatever user.
  /// - Throws: ``ValueError`` that quotes the part that cannot be read.
  public init(
    parsing text: String, user: (String) -> UInt32? = { _ in nil }, group: (String) -> UInt32? = { _ in nil },
    onlySelects: Bool = false
  ) throws(ValueError) {
    var parts: [Part] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      parts.append(try Part(parsing: String(part), user: user, group: group))
    }
    try self.init(parts, onlySelects: onlySelects)
  }

  /// True if all parts of this subject are among those of the subject with the given text.
  public func isPart(of text: String) -> Bool {
    let others = text.split(separator: ",")
    return parts.allSatisfy { part in others.contains { $0.utf8.elementsEqual(part.text.utf8) } }
  }

  /// The unit, if the subject is all processes of one unit, without a further condition.
  public var wholeUnit: String? {
    if parts.count == 1, case .unit(let name) = parts[0] { name } else { nil }
  }

  /// True if the subject depends on the program that a process runs, for which nobody vouches.
  public var namesProgram: Bool { parts.contains { $0.kind == "exe" || $0.kind == "sha256" } }

  /// True if the subject depends on the content of the file that a process runs.
  public var namesDigest: Bool { parts.contains { if case .digest = $0 { true } else { false } } }

  /// True if the subject names a unit or a program. In a user's vault, processes that match it have
  /// their own grants only.
  public var isConfining: Bool { namesProgram || parts.contains { $0.kind == "unit" } }
}

extension Subject.Part {
  /// The word before the colon.
  public var kind: String {
    switch self {
    case .user: "user"
    case .group: "group"
    case .unit: "unit"
    case .executable: "exe"
    case .digest: "sha256"
    }
  }

  /// The text of the part, with numbers for users and groups.
  public var text: String {
    switch self {
    case .user(let id), .group(let id): "\(kind):\(id)"
    case .unit(let text), .executable(let text), .digest(let text): "\(kind):\(text)"
    }
  }

  fileprivate var order: Int {
    switch self {
    case .user: 0
    case .group: 1
    case .unit: 2
    case .executable: 3
    case .digest: 4
    }
  }

  fileprivate init(
    parsing part: String, user: (String) -> UInt32?, group: (String) -> UInt32?
  ) throws(ValueError) {
    guard let colon = part.firstIndex(of: ":") else {
      throw ValueError(
        reason: part.isEmpty
          ? "a subject is missing"
          : "'\(part)' is not a subject; write user:, group:, unit:, exe: or sha256: before it")
    }
    let (kind, content) = (String(part[..<colon]), String(part[part.index(after: colon)...]))
    if content.unicodeScalars.contains(where: \.isControl) {
      throw ValueError(reason: "a subject has a control character in it")
    }
    switch kind {
    case "user": self = .user(try Self.number(content, kind, user))
    case "group": self = .group(try Self.number(content, kind, group))
    case "unit": self = .unit(try Self.unit(content))
    case "exe":
      let parts = content.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      guard content.hasPrefix("/"), !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
        throw ValueError(reason: "exe: needs the absolute path of a file, without links")
      }
      self = .executable(content)
    case "sha256":
      guard content.utf8.count == 64, content.utf8.allSatisfy({ isDigit($0) || (0x61...0x66).contains($0) }) else {
        throw ValueError(reason: "sha256: needs 64 hexadecimal digits, as sha256sum prints them")
      }
      self = .digest(content)
    default:
      throw ValueError(
        reason: "there is no subject '\(kind):'; the subjects are user:, group:, unit:, exe: and sha256:")
    }
  }

  private static func number(
    _ text: String, _ kind: String, _ named: (String) -> UInt32?
  ) throws(ValueError) -> UInt32 {
    // The kernel uses the highest number for "no id".
    if let number = UInt32(text), "\(number)" == text, number != .max { return number }
    if !text.isEmpty, let number = named(text), number != .max { return number }
    throw ValueError(reason: text.isEmpty ? "\(kind): needs a name or a number" : "there is no \(kind) '\(text)' here")
  }

  /// Checks a unit's name against the rules of systemd.unit(5).
  private static func unit(_ text: String) throws(ValueError) -> String {
    guard let dot = text.lastIndex(of: "."), dot != text.startIndex, text.utf8.count <= 255,
      text.utf8.allSatisfy({ isLetterOrDigit($0) || ":-_.\\@".utf8.contains($0) })
    else {
      throw ValueError(reason: "unit: needs the whole name of a unit, such as iothome.service")
    }
    guard ["service", "scope", "slice"].contains(text[text.index(after: dot)...]) else {
      throw ValueError(reason: "processes are in services, scopes and slices, and '\(text)' is none of these")
    }
    return text
  }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
  isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
}

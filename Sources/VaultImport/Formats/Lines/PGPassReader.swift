internal import VaultBytes
internal import VaultWire

/// The reader of PostgreSQL's password file, `.pgpass` (libpq, "The Password File"): lines of
/// `host:port:database:user:password`, in which `\:` and `\\` are a colon and a backslash, and `*` alone matches
/// everything.
///
/// A line is the item `pgpass/HOST/PORT/DATABASE/USER`.
enum PGPassReader: CredentialFile {
  static let format = FileFormat.pgpass
  static let detail = "PostgreSQL's password file"

  static func isNamed(_ file: Source.File) -> Bool { file.isNamed(".pgpass", "pgpass.conf") }

  static func isAlike(_ file: Source.File) -> Bool {
    let lines = file.firstLines.filter { !isComment($0.bytes) }
    return !lines.isEmpty
      && lines.allSatisfy { line in
        let parts = parts(line.bytes)
        let port = parts.count == 5 ? parts[1] : []
        let isPort = !port.isEmpty && port.count <= 5 && port.allSatisfy { (0x30...0x39).contains($0) }
        return isPort || port == [UInt8(ascii: "*")]
      }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      var (settings, comments, count) = (Entry(settingsOf: file), 0, 0)
      for line in try file.lines() {
        let parts = parts(line.bytes)
        if isComment(line.bytes) {
          comments += line.bytes.count
        } else if parts.count >= 5 {
          try found.add(entry(parts))
          count += 1
        } else {
          settings.addSetting("line \(line.number)", size: line.bytes.count, "\(lacking), and libpq ignores it")
        }
      }
      guard count > 0 || settings.fields.isEmpty else {
        throw ImportFailure(.damaged, "no line is host:port:database:user:password")
      }
      if comments > 0 { settings.addSetting("comments", size: comments) }
      if !settings.fields.isEmpty { try found.add(settings) }
    }
  }

  private static let lacking = "it has no host:port:database:user:password"

  private static func entry(_ parts: [[UInt8]]) -> Entry {
    var entry = Entry(.login, at: ["pgpass"] + parts.prefix(4).map { NameSegment.encode($0) })
    let names: [(String, ImportedField.Role)] = [
      ("host", .url), ("port", .text), ("database", .text), ("user", .username), ("password", .password),
    ]
    for ((name, role), part) in zip(names, parts) {
      if part.isEmpty { entry.add(name, role, "") } else { entry.put(name, role, part) }
    }
    if parts.count > 5 {
      let size = parts[5...].reduce(parts.count - 6) { $0 + $1.count }
      entry.addSetting("text after the password", size: size, "libpq reads nothing after a colon behind the password")
    }
    return entry
  }

  private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
    line.trimmed.isEmpty || line.first == UInt8(ascii: "#")
  }

  /// The parts between colons, of which the sixth is the whole rest.
  private static func parts(_ line: ArraySlice<UInt8>) -> [[UInt8]] {
    var (parts, isEscaped): ([[UInt8]], Bool) = ([[]], false)
    for byte in line {
      if isEscaped {
        // libpq matches a backslash before any character with the character alone.
        parts[parts.count - 1].append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\"), parts.count <= 5 {
        isEscaped = true
      } else if byte == UInt8(ascii: ":"), parts.count <= 5 {
        parts.append([])
      } else {
        parts[parts.count - 1].append(byte)
      }
    }
    // A backslash at the end stands for itself.
    if isEscaped { parts[parts.count - 1].append(UInt8(ascii: "\\")) }
    return parts
  }
}

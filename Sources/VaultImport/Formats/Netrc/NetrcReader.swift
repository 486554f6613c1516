internal import VaultBytes
internal import VaultWire

/// The reader of `.netrc` files, with which ftp(1), curl, git and Python's `netrc` log in, and of `.authinfo`, Emacs's
/// form of them.
///
/// A machine is the item `netrc/HOST/LOGIN`, and the machine for all others is `netrc/default/LOGIN`.
enum NetrcReader: CredentialFile {
  static let format = FileFormat.netrc
  static let detail = "logins of .netrc"

  static func isNamed(_ file: Source.File) -> Bool { file.isNamed(".netrc", "_netrc", ".authinfo") }

  static func isAlike(_ file: Source.File) -> Bool {
    var words = NetrcWords(Array(file.bytes.prefix(4096)))
    guard let first = words.next() else { return false }
    switch first.keyword {
    case .machine: _ = words.next()
    case .default: break
    case .login, .password, .account, .macdef, .port, .force, nil: return false
    }
    switch words.next()?.keyword {
    case .login, .password, .account, .port: return true
    case .machine, .default, .macdef, .force, nil: return false
    }
  }

  static func read(_ files: [Source.File], into found: inout FoundEntries) throws(ImportFailure) {
    try read(each: files, into: &found) { file, found throws(ImportFailure) in
      _ = try file.lines()
      var content = NetrcContent(file)
      try content.read(into: &found)
    }
  }
}

/// The machines of one file.
private struct NetrcContent {
  private var words: NetrcWords
  private var settings: Entry
  private var machine: NetrcMachine?

  init(_ file: Source.File) {
    words = NetrcWords(file.bytes)
    settings = Entry(settingsOf: file)
  }

  mutating func read(into found: inout FoundEntries) throws(ImportFailure) {
    while let word = words.next() {
      guard let keyword = word.keyword else { throw damaged(word.line, "a word is no keyword") }
      switch keyword {
      case .machine:
        try finish(into: &found)
        machine = NetrcMachine(host: try value(after: word).bytes)
      case .default:
        try finish(into: &found)
        machine = NetrcMachine(host: nil)
      case .macdef: try takeMacro(after: word)
      case .login, .password, .account, .port, .force:
        guard machine != nil else { throw damaged(word.line, "no machine precedes the keyword") }
        let value = try value(after: word)
        machine?.values.append((word, keyword, value))
      }
    }
    try finish(into: &found)
    if words.comments > 0 { settings.addSetting("comments", size: words.comments) }
    if !settings.fields.isEmpty { try found.add(settings) }
  }

  private mutating func finish(into found: inout FoundEntries) throws(ImportFailure) {
    if let machine { try found.add(machine.entry) }
    machine = nil
  }

  private mutating func value(after word: NetrcWords.Word) throws(ImportFailure) -> NetrcWords.Word {
    guard let value = words.next(isValue: true) else { throw damaged(word.line, "no value follows the keyword") }
    if value.isOpen { throw damaged(value.line, "the quotes do not end") }
    return value
  }

  /// Takes a macro of ftp(1), which ends at an empty line.
  private mutating func takeMacro(after word: NetrcWords.Word) throws(ImportFailure) {
    let name = try value(after: word)
    var size = words.takeLine().count
    while !words.isAtEnd {
      let line = words.takeLine()
      if line.isEmpty || line.elementsEqual([0x0D]) { break }
      size += line.count
    }
    let title = "macdef \(name.bytes[...].text)"
    settings.addSetting(title, size: size, "it is a macro of ftp(1), and no credential")
  }

  private func damaged(_ line: Int, _ reason: String) -> ImportFailure {
    ImportFailure(.damaged, "line \(line): \(reason) of .netrc")
  }
}

/// A machine with its values.
private struct NetrcMachine {
  /// The name of the machine; nil for all machines that have no entry.
  let host: [UInt8]?
  var values: [(word: NetrcWords.Word, keyword: NetrcKeyword, value: NetrcWords.Word)] = []

  var entry: Entry {
    let login = values.first { $0.keyword == .login }?.value.bytes
    let machine = host.map { NameSegment.encode($0) } ?? "default"
    var entry = Entry(.login, at: ["netrc", machine] + (login.map { [NameSegment.encode($0)] } ?? []))
    if let host { entry.put("machine", .url, host) }
    var hasPassword = false
    for (word, keyword, value) in values {
      let name = String(decoding: word.bytes, as: UTF8.self)
      let role: ImportedField.Role
      switch keyword {
      case .login: role = .username
      case .password:
        role = hasPassword ? .secret : .password
        hasPassword = true
      // An additional password, in the words of netrc(5).
      case .account: role = .secret
      case .port, .force, .machine, .default, .macdef: role = .text
      }
      if value.bytes.isEmpty { entry.add(name, role, "") } else { entry.put(name, role, value.bytes) }
      if let other = value.otherReading { entry.addSetting("\(name) as others read it", size: 0, other) }
    }
    return entry
  }
}

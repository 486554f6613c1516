internal import ArgumentParser
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The command `keyring` of Python's keyring, which pip and uv run.
///
/// The item `keyring/pypi.example.org/ana` holds ana's password for that service.
enum KeyringHelper: CredentialHelper {
  static let name = "keyring"
  static let links = ["keyring"]
  static let programs = "pip, uv, and others that run Python's keyring command"
  static let guide = """
    Put this `keyring` first in PATH:

      export PATH=/usr/libexec/vault/bin:$PATH
      keyring set pypi.example.org ana
      pip install --keyring-provider subprocess \\
        --index-url https://ana@pypi.example.org/simple NAME

    and the same with `uv pip`. ana's password there is the item keyring/pypi.example.org/ana.
    """

  private enum Mode: String { case password, creds }
  private enum Form: String { case plain, json }

  static func run(_ call: HelperCall) throws {
    var (mode, form) = (Mode.password, Form.plain)
    var words: [String] = []
    var rest = call.words[...]
    // Options may stand anywhere: uv puts them last.
    while let word = rest.popFirst() {
      guard word.hasPrefix("-") else {
        words.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else { throw call.unusable }
      switch parts[0] {
      case "--mode": mode = try Mode(rawValue: value) ?? { throw call.unusable }()
      case "--output": form = try Form(rawValue: value) ?? { throw call.unusable }()
      default: throw call.unusable
      }
    }
    if let word = missingWord(words, mode) { throw call.lacking(word) }
    guard words.count == 3 || words.count == 2 && words[0] == "get" else { throw call.unusable }
    let (service, user) = (words[1], words.count > 2 ? words[2] : nil)
    let items = try HelperItems(call, for: "keyring, a password for \(service)")
    switch (words[0], user) {
    case ("get", _): try get(service, user, items, mode, form)
    case ("set", let user?): try set(service, user, items)
    case ("del", let user?): try delete(service, user, items)
    default: throw call.unusable
    }
  }

  /// The first word that is missing, in words for a person; nil if none is, or if the action is not known.
  private static func missingWord(_ words: [String], _ mode: Mode) -> String? {
    switch (words.first, words.count) {
    case (nil, _): "an action: get, set or del"
    case ("get", 1), ("set", 1), ("del", 1): "the name of a service"
    case ("get", 2) where mode == .creds: nil
    case ("get", 2), ("set", 2), ("del", 2): "the name of a user"
    default: nil
    }
  }

  private static func folder(of service: String) -> String { "\(name)/\(NameSegment.encode(service))" }

  private static func name(of service: String, _ user: String) -> String {
    "\(folder(of: service))/\(NameSegment.encode(user))"
  }

  private static func names(of service: String, _ user: String) -> [String] {
    URLSpelling(service).all.map { name(of: $0, user) }
  }

  /// Returns the name of that user's item, under any spelling of the service.
  private static func stored(_ service: String, _ user: String, _ items: HelperItems) throws(Failure) -> String? {
    try items.stored(URLSpelling(service)) { name(of: $0, user) }
  }

  private static func get(
    _ service: String, _ user: String?, _ items: HelperItems, _ mode: Mode, _ form: Form
  ) throws {
    // If there is no password, only the exit code says so.
    guard let user = try user ?? newestUser(of: service, items),
      let value = try items.first(of: names(of: service, user), { name throws(Failure) in try items.value(name) })
    else { throw ExitCode(1) }
    if form == .json {
      return try Output.json { object throws(Failure) in
        if mode == .creds { object.add("username", user) }
        try object.add("password", value.bytes, of: value.name)
      }
    }
    var text = SecretBuffer(capacity: value.bytes.count + user.utf8.count + 2)
    if mode == .creds {
      text.append(utf8: user)
      try text.withBytes { bytes throws(Failure) in try OneLine.check(bytes, of: value.name) }
      text.append(0x0A)
    }
    try value.bytes.withBytes { bytes throws(Failure) in
      // Python's keyring reads and stores only text.
      try CarriedForm.text.check(bytes, of: value.name)
      text.append(bytes)
    }
    text.append(0x0A)
    try text.withBytes { bytes throws(Failure) in
      try Output.checkForTerminal(bytes, of: value.name, "send it to a file or a pipe")
      try Output.write(bytes)
    }
  }

  /// Returns the user whose password was stored last.
  private static func newestUser(of service: String, _ items: HelperItems) throws(Failure) -> String? {
    for spelling in URLSpelling(service).all {
      if let user = try newestUser(in: folder(of: spelling), items) { return user }
    }
    return nil
  }

  private static func newestUser(in folder: String, _ items: HelperItems) throws(Failure) -> String? {
    let now = Int64(time(nil))
    let users = try items.items(in: folder).compactMap { item -> (modified: Int64, name: String)? in
      guard item.expires.map({ $0 > now }) ?? true,
        let bytes = NameSegment.decode(item.name.dropFirst(folder.count + 1)),
        let user = String(validating: bytes, as: UTF8.self)
      else { return nil }
      return (item.modified, user)
    }
    return users.max { ($0.modified, $1.name) < ($1.modified, $0.name) }?.name
  }

  private static func set(_ service: String, _ user: String, _ items: HelperItems) throws(Failure) {
    let name = try stored(service, user, items) ?? name(of: URLSpelling(service).usual, user)
    // Bytes have no padding: all of them are initialized.
    try CarriedForm.line.checkNew(unsafe user.utf8.span.bytes, "the user's name", of: name)
    var input = ValueInput(name: name, file: nil, isExact: false, mayBeEmpty: true)
    let value = try input.read { () in .password }
    // The program that should have supplied the password has failed.
    if value.count == 0 { throw items.noSecret(for: name) }
    var about = HelperItems.About()
    about.kind = .password
    // A caller that names no user gets the user whose password was stored last, so the times must differ.
    try items.store(name, value, as: .text, about, lastIn: URLSpelling(service).all.map(folder))
    input.noteCutBreak()
  }

  private static func delete(_ service: String, _ user: String, _ items: HelperItems) throws(Failure) {
    guard let name = try stored(service, user, items), try items.erase([name]) else {
      let name = name(of: service, user)
      throw Failure(.missing, "no item \(Printable.quoted(name))", "see \(Hint.vault("list keyring"))")
    }
  }
}

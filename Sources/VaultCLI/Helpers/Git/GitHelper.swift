internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The credential helper of git (gitcredentials(7), git-credential(1)).
enum GitHelper: CredentialHelper {
  static let name = GitPlace.root
  static let links = ["git-credential-vault"]
  static let programs = "git"
  static let guide = """
    git config --global credential.helper vault

    What git stores for ana at example.org is the item git/https/example.org/ana.
    """

  /// The attribute of an item whose value is a credential other than a password.
  private static let authtype = "authtype"

  static func run(_ call: HelperCall) throws {
    if call.words.isEmpty { throw call.lacking("an action: get, store or erase") }
    guard call.words.count == 1 else { throw call.unusable }
    switch call.words[0] {
    case "get": try get(call)
    case "store": try store(call)
    case "erase": try erase(call)
    case "capability": try Output.text("version 0\ncapability authtype\n")
    // A helper must ignore actions that a later git may add.
    default: break
    }
  }

  private static func get(_ call: HelperCall) throws(Failure) {
    let request = try Request(call)
    let found = try request.found()
    var unusable: Failure?
    for item in request.candidates(among: found) {
      guard let user = request.place.user(of: item.name) else { continue }
      let entry = try request.items.entry(of: item)
      let token = "\(item.name)/\(GitPlace.refreshToken)"
      let refresh = try found.contains { $0.name == token } ? request.items.value(token) : nil
      if entry == nil, refresh == nil { continue }
      var answer = GitAnswer(for: item.name)
      do throws(Failure) {
        if request.said.takesAuthtype { answer.addLine("capability[]=authtype") }
        // A password is sent with its user, even if the user's name is empty.
        if !user.name.isEmpty || item.attributes[authtype] == nil { try answer.add("username", user.name) }
        // An expired password is no use, but git can get a new one for the refresh token.
        if let entry { try answer.add(entry, item.attributes[authtype]) }
        if let refresh { try answer.add("oauth_refresh_token", refresh.bytes) }
      } catch {
        // An item that cannot be sent must not keep git from the items of the host's other users.
        if let unusable { Output.note(unusable.message) }
        unusable = error
        continue
      }
      if let unusable { Output.note(unusable.message) }
      return try answer.send()
    }
    if let unusable { throw unusable }
  }

  private static func store(_ call: HelperCall) throws(Failure) {
    let request = try Request(call)
    let kind = request.said.string(.authtype)
    let expires = request.said.string(.passwordExpiry).flatMap { Int64($0) }.map { min($0, Timestamp.last) }
    guard !request.isEphemeral, expires.map({ $0 > Int64(time(nil)) }) ?? true, let secret = request.secret,
      request.said.has(.credential) ? kind != nil : request.said.has(.username)
    else { return }
    let name = try request.storedName() ?? request.place.name
    // With an empty user and an empty secret, git records that the server identifies its callers by other means, such
    // as Kerberos.
    let isOfNobody = request.said.string(.username)?.isEmpty ?? false
    guard secret.count > 0 || isOfNobody else { throw request.items.noSecret(for: name) }
    for (key, value) in [("the user's name", request.said.name(.username)), ("authtype", request.said.name(.authtype))]
    {
      // Bytes have no padding: all of them are initialized.
      if let value { try CarriedForm.line.checkNew(unsafe value.span.bytes, key, of: name) }
    }
    let refresh = request.said.secret(.refreshToken)
    switch refresh {
    case .some(let token):
      try token.withBytes { bytes throws(Failure) in
        try CarriedForm.line.checkNew(bytes, "the refresh token", of: name)
      }
    case .none: break
    }
    var about = HelperItems.About()
    about.kind = secret.count == 0 ? .blob : .password
    about.attributes = [authtype: request.said.has(.credential) ? kind : nil]
    about.expires = expires
    let isReplaced = try request.items.store(name, secret, as: .line, about, lastIn: request.place.folders)
    let token = "\(name)/\(GitPlace.refreshToken)"
    if let refresh {
      try request.items.store(token, refresh, as: .line, HelperItems.About())
    } else if isReplaced, try request.items.item(token) != nil {
      // The refresh token belonged to the replaced password.
      try request.items.erase([token])
    }
  }

  private static func erase(_ call: HelperCall) throws(Failure) {
    let request = try Request(call)
    let found = try request.found()
    var names: [String] = []
    for item in found where request.place.user(of: item.name) != nil {
      // An erase of a password that git got earlier must not remove a newer one.
      switch request.secret {
      case .some(let secret): guard try request.items.holds(item.name, secret) else { continue }
      case .none: break
      }
      names.append(item.name)
      let token = "\(item.name)/\(GitPlace.refreshToken)"
      if found.contains(where: { $0.name == token }) { names.append(token) }
    }
    try request.items.erase(names)
  }

  /// The attributes that git sent, and the items for those credentials.
  private struct Request: ~Copyable {
    let said: GitAttributes
    let place: GitPlace
    let items: HelperItems

    init(_ call: HelperCall) throws(Failure) {
      let said = try Self.read()
      guard let place = GitPlace(said) else {
        throw Failure(.usage, "standard input names no protocol or no host", "see git-credential(1)")
      }
      // With `GIT_TERMINAL_PROMPT=0`, git itself asks nobody at the terminal either.
      let mayAsk = Environment.variable("GIT_TERMINAL_PROMPT") != "0"
      let items = try HelperItems(call, for: "git credentials for \(said.string(.host) ?? "a host")", mayAsk: mayAsk)
      (self.place, self.items) = (place, items)
      self.said = said
    }

    private static func read() throws(Failure) -> GitAttributes {
      let text = try HelperInput.paragraph()
      do throws(GitAttributes.Problem) {
        return try text.withBytes { lines throws(GitAttributes.Problem) in try GitAttributes(parsing: lines) }
      } catch {
        throw Failure(.invalid, "line \(error.line) of standard input \(error.reason)", "see git-credential(1)")
      }
    }

    /// Returns the items of the host.
    func found() throws(Failure) -> [Wire.Item] {
      var found: [Wire.Item] = []
      for folder in place.folders { found += try items.items(in: folder) }
      return found
    }

    /// Returns the name of the stored item for exactly this user and path, under any spelling of the host; nil if there
    /// is none.
    func storedName() throws(Failure) -> String? {
      for name in place.names {
        do throws(Failure) {
          if try items.item(name) != nil { return name }
        } catch {
          // A caller that may set the item may lack the right to find it.
          guard error.exit == .denied else { throw error }
        }
      }
      return nil
    }

    /// The secret that git sent: a password, or a credential of another type.
    var secret: SecretBuffer? { said.secret(said.has(.credential) ? .credential : .password) }

    var isEphemeral: Bool { ["1", "true", "yes", "on"].contains(said.string(.ephemeral)) }

    /// Returns the items that git can use, the best first. Items that have expired come last; then items with a path
    /// that git did not name; then older items.
    func candidates(among found: [Wire.Item]) -> [Wire.Item] {
      let now = Int64(time(nil))
      func rank(_ item: Wire.Item) -> (Int, Int, Int64, String) {
        let isExpired = item.expires.map { $0 <= now } ?? false
        let hasPath = place.user(of: item.name)?.hasPath ?? false
        // The complement sorts like the negative number and never overflows.
        return (isExpired ? 1 : 0, hasPath ? 1 : 0, ~item.modified, item.name)
      }
      return found.filter { item in
        place.user(of: item.name) != nil && (said.takesAuthtype || item.attributes[authtype] == nil)
      }.sorted { rank($0) < rank($1) }
    }
  }
}

/// The lines of the answer to git. No value holds a line break, which would start another line, perhaps about another
/// host.
private struct GitAnswer: ~Copyable {
  private let item: String
  private var text = SecretBuffer(capacity: 4096)

  init(for item: String) { self.item = item }

  mutating func addLine(_ line: StaticString) {
    text.append(line)
    text.append(0x0A)
  }

  mutating func add(_ key: StaticString, _ value: [UInt8]) throws(Failure) {
    // Bytes have no padding: all of them are initialized.
    try add(key, unsafe value.span.bytes)
  }

  mutating func add(_ key: StaticString, _ value: borrowing SecretBuffer) throws(Failure) {
    try value.withBytes { bytes throws(Failure) in try add(key, bytes) }
  }

  /// Adds a password or a credential of another type, with the time at which it expires.
  mutating func add(_ entry: borrowing HelperItems.Entry, _ authtype: String?) throws(Failure) {
    if let authtype {
      try add("authtype", Array(authtype.utf8))
      try add("credential", entry.value.bytes)
    } else {
      try add("password", entry.value.bytes)
    }
    if let expires = entry.item.expires { try add("password_expiry_utc", Array(String(expires).utf8)) }
  }

  private mutating func add(_ key: StaticString, _ value: RawSpan) throws(Failure) {
    try OneLine.check(value, of: item)
    text.append(key)
    text.append(UInt8(ascii: "="))
    text.append(value)
    text.append(0x0A)
  }

  consuming func send() throws(Failure) {
    try text.withBytes { bytes throws(Failure) in
      try Output.checkForTerminal(bytes, of: item, "send it to a file or a pipe")
      try Output.write(bytes)
    }
  }
}

internal import ArgumentParser
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Make, check and revoke tokens (JWT) with a key that stays in the vault.",
    discussion: """
      The item must be one for `jwt` (`vault set --use jwt`); its attributes iss, aud, max-ttl, sub and claims \
      determine which tokens it makes. See vault-keys(7).
      """,
    subcommands: [
      TokenIssueCommand.self, TokenVerifyCommand.self, TokenRevokeCommand.self, TokenRotateCommand.self,
    ])
}

struct TokenIssueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "issue",
    abstract: "Print a new token.",
    discussion:
      "Whoever has the token can use it until it expires or is revoked. A newline is added only for a terminal.")

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Option(
    name: [.customLong("sub")],
    help: ArgumentHelp(
      "The subject of the token, such as a device; the item's attribute `sub` limits it.", valueName: "subject"))
  var subject: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long the token is valid, such as 15m or 90d; by default the item's `max-ttl`, or an hour.",
      valueName: "duration"),
    transform: Times.duration)
  var ttl: Int64?

  @Option(
    name: [.customLong("claim")],
    help: ArgumentHelp("Add a claim, as text; the item's attribute `claims` must name it.", valueName: "name=text"),
    transform: Attribute.init(parsing:))
  var claims: [Attribute] = []

  @Option(
    help: ArgumentHelp("Add claims from a JSON object, instead of --claim.", valueName: "json"))
  var claimsJSON: String?

  @Flag(
    name: .shortAndLong,
    help: "Put the token on the clipboard instead of printing it; a desktop's is cleared after 45 seconds.")
  var clip = false

  @OptionGroup var key: KeyOptions

  @OptionGroup var globals: Globals

  func validate() throws {
    if clip && globals.json { throw ValidationError("--clip and --json exclude each other; give one of them") }
    if !claims.isEmpty && claimsJSON != nil {
      throw ValidationError("--claim and --claims-json exclude each other; give all claims in one way")
    }
  }

  func run() throws {
    if let claimsJSON { try Self.check(claimsJSON) }
    let session = try Session(globals)
    if clip { try Clipboard.check() }
    let token = try key.use(session, for: "vault token issue \(name)") { vault in
      try vault.issueToken(name, subject: subject, lifetime: ttl, claims: claimsJSON ?? Self.json(claims), key.wait)
    }
    if clip { return Output.note(try Clipboard.put(token.text)) }
    if globals.json {
      return try Output.reply { writer in token.text.withBytes { token.reply.write(to: &writer, secret: $0) } }
    }
    try token.text.withBytes { bytes in try Output.write(bytes) }
    guard Output.isTerminal else { return }
    try Output.text("\n")
    let (id, end) = (Printable.text(token.reply.id), LocalTime.text(token.reply.expires, to: STDERR_FILENO))
    Output.note("the token's number is \(id); it is valid until \(end)")
  }

  /// Refuses claims that are not JSON: no terms of the item could allow them.
  private static func check(_ claims: String) throws(Failure) {
    do throws(FrameError) { _ = try Frame(parsing: unsafe claims.utf8.span.bytes) } catch {
      throw Failure(
        .invalid, "the text of the claims is not a JSON object: \(error.reason)", "write it like '{\"role\":\"door\"}'")
    }
  }

  /// Returns the claims as a JSON object of texts; nil if there are none.
  private static func json(_ claims: [Attribute]) -> String? {
    if claims.isEmpty { return nil }
    var object = JSONBuilder()
    for claim in claims { object.add(claim.key, claim.value) }
    return object.take().withBytes { bytes in
      // The bytes are lent for the call, and claims are no secret.
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }
}

struct TokenVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a token, and print its claims.",
    discussion: """
      The token is standard input or a file: whoever has it can use it, so it is never an argument. If the token is \
      not valid, the command prints the reason, and the exit code is 65. The algorithm is that of the key, whatever \
      the token says; a replaced key is accepted for as long as its tokens can be valid.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Argument(help: ArgumentHelp("The token; standard input by default.", valueName: "file"), completion: .file())
  var file: String?

  @OptionGroup var waiting: WaitOptions

  @OptionGroup var globals: Globals

  func run() throws {
    var token = try MessageInput.read(file, ofMore: "no token is that long")
    let end = token.withBytes { FinalBreak.count(in: $0) }
    token.truncate(to: token.count - end)
    let session = try Session(globals)
    let reply = try waiting.use(session, for: "vault token verify \(name)") { vault in
      try vault.verifyToken(name, token, waiting.keyWait())
    }
    if globals.json { try Output.json(reply) }
    guard reply.valid else {
      throw Failure(.invalid, "the token is not valid: \(Printable.text(reply.fault ?? "no reason is given"))")
    }
    guard !globals.json else { return }
    let claims = reply.claims ?? "{}"
    try Output.json(SecretBuffer(copying: unsafe claims.utf8.span.bytes))
  }
}

struct TokenRevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke tokens.",
    discussion: """
      Revokes one token by its number (its claim `jti`), or all tokens that were made for a subject so far; the \
      command then waits until the present second is over, because tokens made within it are revoked, too. The list is \
      the item NAME.revoked, a note in JSON for programs that check tokens elsewhere; `vault watch NAME.revoked` tells \
      them of changes, and `vault receipts NAME.revoked` prints which of them have it.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Argument(help: ArgumentHelp("The token's number, 32 hexadecimal digits.", valueName: "number"))
  var id: String?

  @Option(
    name: [.customLong("sub")],
    help: ArgumentHelp("Revoke all tokens that were made for this subject so far.", valueName: "subject"))
  var subject: String?

  @OptionGroup var globals: Globals

  func validate() throws {
    if (id == nil) == (subject == nil) { throw ValidationError("give the number of a token, or --sub and a subject") }
    // The check comes this early so that a token given by mistake gets no further.
    if let id {
      if id.utf8.contains(UInt8(ascii: ".")) {
        throw ValidationError("this is a token and not its number; give the number, its claim jti")
      }
      guard id.utf8.count == 32, id.utf8.allSatisfy({ isxdigit(Int32($0)) != 0 }) else {
        throw ValidationError("a token's number, its claim jti, is 32 hexadecimal digits")
      }
    }
    if let subject, !(1...1024).contains(subject.utf8.count) || !Printable.isPlain(subject) {
      throw ValidationError("a subject is 1 to 1024 bytes of printable text")
    }
  }

  func run() throws {
    let session = try Session(globals)
    let reply = try session.unlocking(for: "vault token revoke \(name)") { vault in
      try vault.revokeToken(name, id: id, subject: subject)
    }
    // Tokens of the present second do not count, and whoever makes a token right after this command expects that token
    // to count.
    if subject != nil { Moment.pass(second: Int64(time(nil))) }
    if globals.json { return try Output.json(reply) }
    if Keyboard.isAttended {
      let revoked =
        subject.map { "all tokens of \(Printable.quoted($0)) issued until now" } ?? "token \(id?.lowercased() ?? "")"
      Output.note("revoked \(revoked); the list is \(Printable.quoted(reply.list)), version \(reply.version)")
    }
  }
}

struct TokenRotateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replace the key of the tokens with a new one.",
    discussion: """
      The daemon makes a new key of the same type, as a new version of the item; a new RSA key has 3072 or 4096 bits. \
      Tokens of the previous key stay valid until they expire: `vault token verify` accepts that key for as long as \
      max-ttl, and `vault pubkey --format jwks` prints it, too. `vault watch` tells programs that read these keys \
      about the new one, and `vault receipts` prints which of them have taken it over.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let stored = try session.unlocking(for: "vault token rotate \(name)") { vault in
      let item = try vault.show(name)
      guard item.use == KeyUse.jwt.name else { throw ClientError.fault(.wrongUse(name: name, use: item.use)) }
      // For RSA, the new key has one of the sizes that the daemon makes, and is not weaker than the old one.
      let bits = item.keyBits.map { $0 > 3072 ? 4096 : 3072 }
      let generator = Wire.Generator(style: item.keyType ?? "hmac", length: bits)
      return try vault.set(Wire.NewItem(name: name, generate: generator, update: true))
    }
    if globals.json {
      return try Output.json { object in
        object.add("name", name)
        object.add("version", stored.version)
      }
    }
    if Keyboard.isAttended { Output.note(stored.sentence(name)) }
  }
}

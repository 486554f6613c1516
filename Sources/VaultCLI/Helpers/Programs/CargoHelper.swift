internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Cargo's credential provider, for Cargo 1.74 and later: requests and answers are lines of JSON (The Cargo Book,
/// "Credential Provider Protocol").
///
/// The item `cargo/sparse+https:%2F%2Findex.crates.io%2F` holds the token for the registry whose index has that URL.
enum CargoHelper: CredentialHelper {
  static let name = "cargo"
  static let links = ["cargo-credential-vault"]
  static let programs = "cargo, from 1.74 on"
  static let guide = """
    In ~/.cargo/config.toml:

      [registry]
      global-credential-providers = ["cargo-credential-vault"]

    `cargo login` then stores the token, as the item named cargo/ followed by the URL of the registry's index.
    """

  /// The version of the protocol.
  private static let version = 1

  static func run(_ call: HelperCall) throws {
    guard call.words.isEmpty || call.words == ["--cargo-plugin"] else { throw call.unusable }
    try Output.text("{\"v\":[\(version)]}\n")
    var lines = InputLines(limit: HelperInput.limit)
    while let line = try lines.next() {
      let answer: SecretBuffer
      do throws(Failure) { answer = try Self.answer(line, call) } catch {
        answer = failure("other", "vault: \(Printable.line(error.message))")
      }
      try answer.withBytes { bytes throws(Failure) in try Output.write(bytes) }
    }
  }

  private static func answer(_ text: borrowing SecretBuffer, _ call: HelperCall) throws(Failure) -> SecretBuffer {
    let request = try HelperInput.object(text, "the request")
    guard request.member("v", of: request.root).flatMap({ request.integer($0) }) == Int64(version) else {
      throw Failure(.invalid, "this is not version \(version) of cargo's protocol")
    }
    let kind = request.text("kind") ?? ""
    guard ["get", "login", "logout"].contains(kind) else { return failure("operation-not-supported") }
    let registry = request.member("registry", of: request.root)
    guard let registry, let url = request.text("index-url", of: registry) else {
      throw Failure(.invalid, "the request names no registry")
    }
    let options = request.member("args", of: request.root).map { request.elements(of: $0) } ?? []
    let call = try call.adding(options.compactMap { request.string($0) })
    let items = try HelperItems(call, for: "cargo, a token for \(request.text("name", of: registry) ?? url)")
    let spelling = URLSpelling(url)
    switch kind {
    case "login":
      // Typed text stays hidden until the token is stored, because the daemon may ask for more before that.
      let hush = Hush.onTerminal()
      defer { _ = hush }
      let name = try items.stored(spelling, Self.name) ?? Self.name(of: spelling.usual)
      try items.store(name, token(request, name), as: .textLine, HelperItems.About(kind: .apiKey))
    case "logout":
      guard let found = try items.stored(spelling, Self.name), try items.erase([found]) else {
        return failure("not-found")
      }
    default:
      let names = spelling.all.map(Self.name)
      guard let entry = try items.first(of: names, { name throws(Failure) in try items.entry(name) }) else {
        return failure("not-found")
      }
      return try answer(entry)
    }
    return line { object in object.add("Ok") { $0.add("kind", kind) } }
  }

  private static func name(of url: String) -> String { "\(name)/\(NameSegment.encode(url))" }

  /// Returns the token that cargo was given; otherwise a person types it.
  private static func token(_ request: borrowing Frame, _ name: String) throws(Failure) -> SecretBuffer {
    if var token = request.member("token", of: request.root).flatMap({ request.secret($0) }) {
      // Cargo before April 2024 passes on the line break of the line that it read (rust-lang/cargo pull request 13770).
      token.truncate(to: token.count - token.withBytes { FinalBreak.count(in: $0) })
      return token
    }
    let advice = "give it to `cargo login` on standard input"
    guard Keyboard.canAsk else { throw .unasked("no token was given", advice: advice) }
    if let url = request.text("login-url") { Output.note("get a token at \(Printable.text(url))") }
    let keyboard = try Keyboard(otherwise: advice)
    guard let typed = try Answers.usable("Token: ", keyboard) else { throw Failure(Fault.cancelled) }
    return typed
  }

  private static func answer(_ entry: borrowing HelperItems.Entry) throws(Failure) -> SecretBuffer {
    try entry.value.bytes.withBytes { bytes throws(Failure) in try OneLine.check(bytes, of: entry.item.name) }
    return try line { object throws(Failure) in
      try object.add("Ok") { answer throws(Failure) in
        answer.add("kind", "get")
        try answer.add("token", entry.value.bytes, of: entry.item.name)
        answer.add("cache", entry.item.expires == nil ? "session" : "expires")
        answer.add("expiration", entry.item.expires)
        answer.add("operation_independent", true)
      }
    }
  }

  private static func failure(_ kind: String, _ message: String? = nil) -> SecretBuffer {
    line { object in
      object.add("Err") { error in
        error.add("kind", kind)
        error.add("message", message)
        if message != nil { error.add("caused-by", [String]()) }
      }
    }
  }

  private static func line<E: Error>(_ members: (inout JSONBuilder) throws(E) -> Void) throws(E) -> SecretBuffer {
    var object = JSONBuilder()
    try members(&object)
    var line = object.take()
    line.append(0x0A)
    return line
  }
}

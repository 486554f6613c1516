internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign",
    abstract: "Sign a message with a key that stays in the vault.",
    discussion: """
      The item must be one for `sign` (`vault set --use sign`). The message is a file or standard input, at most 1 \
      MiB. By default the signature is printed as bytes, as other programs expect it (for ECDSA the two numbers in \
      DER); --format selects another form.
      """)

  private static let algorithms = SignatureScheme.allCases.map(\.facts.joseName)
  private static let names =
    "\(algorithms.dropLast().joined(separator: ", ")) or \(algorithms[algorithms.count - 1])"

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Argument(help: ArgumentHelp("The message; standard input by default.", valueName: "file"), completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp(
      """
      \(SignCommand.names), which the key must support; by default the key's own algorithm, which is PS256 for an RSA \
      key.
      """, valueName: "name"),
    completion: .list(SignCommand.algorithms))
  var algorithm: String?

  @Option(
    help: ArgumentHelp(
      "`raw` (the bytes, the default), `hex`, `base64`, or `jose` (the base64url of JSON Web Signatures).",
      valueName: "format")
  )
  var format = SignatureFormat.raw

  @OptionGroup var key: KeyOptions

  @OptionGroup var globals: Globals

  func run() throws {
    let message = try MessageInput.read(file)
    let session = try Session(globals)
    let reply: Wire.SignReply
    do throws(Failure) {
      reply = try key.use(session, for: "vault sign \(name)") { vault in
        try vault.sign(name, message, algorithm: algorithm, key.wait)
      }
    } catch {
      throw AlgorithmName.explained(error, algorithm, of: Self.algorithms, name)
    }
    if globals.json { return try Output.json(reply) }
    guard let bytes = [UInt8](base64: format == .jose ? reply.signature : reply.der ?? reply.signature) else {
      throw Failure(.software, "the daemon's answer is not base64")
    }
    try format.write(unsafe bytes.span.bytes, "signature")
  }
}

struct MACCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mac",
    abstract: "Compute or compare a keyed hash (HMAC) with a key that stays in the vault.",
    discussion: """
      The item must be one for `mac` (`vault set --use mac`). The message is a file or standard input, at most 1 MiB. \
      With --verify the command prints nothing, and the exit code is 65 if the hashes differ.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Argument(help: ArgumentHelp("The message; standard input by default.", valueName: "file"), completion: .file())
  var file: String?

  @Option(
    help: ArgumentHelp("HS256 (HMAC-SHA-256, the default) or HS512.", valueName: "name"),
    completion: .list(MACCommand.algorithms))
  var algorithm: String?

  @Option(help: ArgumentHelp("Compare the hash with this one, in hexadecimal or base64.", valueName: "hash"))
  var verify: String?

  @Option(
    help: ArgumentHelp(
      "`hex` (the default), `raw` (the bytes), `base64`, or `jose` (the base64url of JSON Web Signatures).",
      valueName: "format"))
  var format = SignatureFormat.hex

  @OptionGroup var key: KeyOptions

  @OptionGroup var globals: Globals

  private static let algorithms = ["HS256", "HS512"]

  func validate() throws { _ = try verify.map(Self.base64) }

  func run() throws {
    let compared = try verify.map(Self.base64)
    let message = try MessageInput.read(file)
    let hash = try hash(of: message, comparing: compared)
    guard compared == nil else {
      if globals.json { try Output.json(hash.reply) }
      guard hash.reply.valid == true else {
        throw Failure(.invalid, "the hash does not match the message and the key \(Printable.quoted(name))")
      }
      return
    }
    switch hash.bytes {
    case .some(let bytes):
      try bytes.withBytes { bytes throws(Failure) in
        guard globals.json else { return try format.write(bytes, "hash") }
        try Output.json { object in
          object.add("name", hash.reply.name)
          object.add("version", hash.reply.version)
          SignatureFormat.base64.text(of: bytes).withBytes { object.add("mac", secret: $0) }
        }
      }
    case .none: throw Failure(.software, "the daemon's answer has no hash")
    }
  }

  private func hash(
    of message: borrowing SecretBuffer, comparing compared: String?
  ) throws(Failure) -> KeyedHash {
    let session = try Session(globals)
    do throws(Failure) {
      return try key.use(session, for: "vault mac \(name)") { vault in
        try vault.mac(name, message, algorithm: algorithm, comparing: compared, key.wait)
      }
    } catch {
      throw AlgorithmName.explained(error, algorithm, of: Self.algorithms, name)
    }
  }

  /// The sizes of SHA-256 and SHA-512 in bytes.
  private static let sizes = [32, 64]

  /// Converts a hash in hexadecimal or base64 to base64. Text that could be either counts as hexadecimal, as `vault
  /// mac` prints it.
  private static func base64(_ text: String) throws -> String {
    let hex = [UInt8](hex: text)
    if let hex, sizes.contains(hex.count) { return hex.base64 }
    let given = [UInt8](base64: text)
    if let size = hex?.count ?? given?.count, !sizes.contains(given?.count ?? 0) {
      throw ValidationError("--verify takes a hash of 32 or 64 bytes, and this has \(Counted.text(size, "byte"))")
    }
    guard given != nil else {
      throw ValidationError("--verify takes a hash in hexadecimal or base64")
    }
    return text
  }
}

/// The name of an algorithm on the command line.
private enum AlgorithmName {
  /// Explains the daemon's refusal of an algorithm; returns any other failure unchanged.
  static func explained(_ failure: Failure, _ given: String?, of known: [String], _ item: String) -> Failure {
    guard failure.exit == .usage, let given else { return failure }
    let quoted = Printable.quoted(given)
    guard known.contains(given) else {
      return Failure(.usage, "there is no algorithm \(quoted)", "give one of \(known.joined(separator: ", "))")
    }
    return Failure(
      .usage, "the key \(Printable.quoted(item)) is not one for \(quoted)",
      "leave --algorithm out for the key's own algorithm")
  }
}

/// The formats of signatures and hashes in the output.
enum SignatureFormat: String, ExpressibleByArgument, CaseIterable {
  case raw, hex, base64, jose

  /// Returns a signature or hash in this format.
  func text(of bytes: RawSpan) -> SecretBuffer {
    var text = SecretBuffer()
    switch self {
    case .raw: text.append(bytes)
    case .hex: for index in 0..<bytes.byteCount { text.append(utf8: [bytes.byte(index)].hex) }
    case .base64: text.append(count: Base64.encodedCount(bytes.byteCount)) { Base64.encode(bytes, into: &$0) }
    case .jose: text.append(count: Base64URL.encodedCount(bytes.byteCount)) { Base64URL.encode(bytes, into: &$0) }
    }
    return text
  }

  /// Writes a signature or hash, in a line of its own if it is text.
  ///
  /// - Parameter what: the word for the bytes in a message, such as "hash".
  func write(_ bytes: RawSpan, _ what: String) throws(Failure) {
    if self == .raw, Output.isTerminal {
      throw Failure(.usage, "the \(what) is bytes, and this is a terminal", "give --format base64, or redirect it")
    }
    var output = text(of: bytes)
    if self != .raw { output.append(UInt8(ascii: "\n")) }
    try output.withBytes { output throws(Failure) in try Output.write(output) }
  }
}

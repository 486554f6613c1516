internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault get`, in whichever way its command line was read.
///
/// Other programs mostly run the plain form. ``init(fast:)`` reads that form without the argument parser, whose start
/// costs as much as all the rest.
struct GetRequest: Equatable {
  var name: String
  var socket: String?
  var system = false
  var json = false
  var field: String?
  var version: Int?
  var waitSeconds: Int64?
  /// The purpose of the call, in words for an administrator and the audit log.
  var reason: String?
  var clip = false
  /// True if a QR code that holds the value is drawn for a phone.
  var qr = false
  var expired = false
  /// True if a value that is no text may go to a terminal, too.
  var force = false

  init(name: String, socket: String? = nil, system: Bool = false, json: Bool = false) {
    self.name = name
    self.socket = socket
    self.system = system
    self.json = json
  }

  /// Reads `get NAME`, with `--json`, `--system` and `--socket PATH` anywhere after `get`. Nil for every other command
  /// line, which the argument parser then reads.
  init?(fast arguments: ArraySlice<String>) {
    guard arguments.first == "get" else { return nil }
    self.init(name: "")
    var hasName = false
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": json = true
      case "--system": system = true
      case "--socket":
        guard let path = rest.popFirst(), path.utf8.first != UInt8(ascii: "-") else { return nil }
        socket = path
      default:
        guard !hasName, let first = argument.utf8.first, first != UInt8(ascii: "-") else { return nil }
        name = argument
        hasName = true
      }
    }
    guard hasName, !(system && socket != nil) else { return nil }
  }

  func run() throws(Failure) {
    let session = try Session(socket: socket, system: system, startsDaemon: true)
    session.vault.reason = reason
    if clip { try Clipboard.check() }
    if let field, !ItemField.ofVersions.contains(field) { return try print(field: field, session) }
    let item = try read(session) { vault, wait in
      try vault.read(name, version: version, wait: wait, expired: expired, ask: asks, describe: describes)
    }
    try deliver(item, session)
  }

  private func deliver(_ item: borrowing Value, _ session: Session) throws(Failure) {
    if qr || field == "uri" {
      let uri = try ItemURI.uri(of: told(item.item, session), item.bytes)
      return qr ? try QRCode.show(uri) : try write(uri, version: item.version)
    }
    if Output.isTerminal || clip, let told = item.item { ItemNotes.show(told) }
    try write(item.bytes, version: item.version)
  }

  /// Returns the item that came with the value; otherwise asks for it, which fails for a caller without the right to
  /// find it.
  private func told(_ item: Wire.Item?, _ session: Session) throws(Failure) -> Wire.Item {
    if let item { return item }
    return try session.call { vault in try vault.show(name) }
  }

  /// True if an agent may ask a person, because this program has no terminal to ask on.
  private var asks: Bool { waitSeconds == nil && !Keyboard.canAsk }

  /// True if the output needs more than the value: the item's details.
  private var describes: Bool { qr || field == "uri" || Keyboard.isAttended && (Output.isTerminal || clip) }

  private func read<R: ~Copyable>(
    _ session: Session, _ body: (Vault, _ wait: Duration?) throws -> R
  ) throws(Failure) -> R {
    try session.reading(wait: waitSeconds.map { .seconds($0) }, for: "vault get \(name)", body)
  }

  private func print(field: String, _ session: Session) throws(Failure) {
    let item = try read(session) { vault, _ in try vault.show(name) }
    let text = try ItemField.known(field, of: item)
    var bytes = SecretBuffer()
    // An attribute is text for a person, so it is made printable. The value is not, and is written as it is.
    bytes.append(utf8: Output.isTerminal && !json && !clip ? Printable.line(text) : text)
    try write(bytes, version: item.version)
  }

  private func write(_ value: borrowing SecretBuffer, version: Int) throws(Failure) {
    if clip { return Output.note(try Clipboard.put(value)) }
    if json { return try writeJSON(value, version: version) }
    try value.withBytes { bytes throws(Failure) in
      if !force { try Output.checkForTerminal(bytes, of: name, "send it to a file or a pipe, or give --force") }
      try Output.write(bytes)
      if Output.isTerminal, bytes.byteCount == 0 || Span<UInt8>(_bytes: bytes)[bytes.byteCount - 1] != 0x0A {
        try Output.text("\n")
      }
    }
  }

  private func writeJSON(_ value: borrowing SecretBuffer, version: Int) throws(Failure) {
    try Output.json(capacity: value.count * 2 + 256) { object in
      object.add("name", name)
      object.add("version", version)
      if field != "value" { object.add("field", field) }
      value.withBytes { object.add(content: $0) }
    }
  }
}

internal import VaultClient
internal import VaultModel
internal import VaultWire

// The value, and the questions about it: nothing that was typed is lost for what can be put right.
extension SetRequest {
  /// Gets the value, and stores it.
  mutating func storeValue(_ session: Session) throws(Failure) -> Wire.SetReply {
    let isTyped = input.isTyped
    if isTyped { try askForNetwork(session) }
    var value = try read(session)
    while true {
      try settleKind(of: &value, session)
      do throws(Failure) {
        let item = try item(session)
        return try session.unlocking { vault in try vault.set(item, value: value) }
      } catch {
        guard isTyped, Keyboard.isAttended else { throw error }
        try putRight(error, &value, session)
      }
    }
  }

  /// Has a person decide what is to become of a typed value that was not stored.
  ///
  /// - Throws: the failure itself, where nothing that can be said here helps, or the person gives up.
  private mutating func putRight(
    _ failure: Failure, _ value: inout SecretBuffer, _ session: Session
  ) throws(Failure) {
    switch failure.exit {
    case .invalid:
      Output.note(failure.message)
      let question = "Another kind for what you gave (Enter to give it again, control-D to give up): "
      if let other = try askForKind(question, otherwise: failure) {
        kind = other.rawValue
        try askForNetwork(session)
      } else {
        value = try read(session)
      }
    case .io, .retry, .unavailable:
      Output.note(failure.message)
      let keyboard = try Keyboard(otherwise: "run it on a terminal")
      guard try keyboard.confirm("Try it once more with what you gave?") else { throw failure }
    case .usage, .missing, .software, .system, .exists, .denied, .configuration, .notRunnable, .noProgram: throw failure
    }
  }

  private var input: ValueInput { ValueInput(name: name, file: command.file, isExact: command.exact) }

  private mutating func read(_ session: Session) throws(Failure) -> SecretBuffer {
    if input.isTyped { try checkBeforeAsking(session) }
    return try input.read { () throws(Failure) in try kind(session) }
  }

  /// Has a person say the kind of what does not look like a password, where nobody has said one, and takes apart the text of a
  /// network's QR code, which is more than the value of its kind.
  private mutating func settleKind(of value: inout SecretBuffer, _ session: Session) throws(Failure) {
    if kind == nil, command.use == nil, let likely = value.withBytes({ LikelyKind(of: $0) }), canAsk,
      try kind(session) == .password
    {
      let question = "It looks like \(likely.form). Its kind (Enter for \(likely.kind.rawValue)): "
      kind = (try askForKind(question, otherwise: Failure(Fault.cancelled)) ?? likely.kind).rawValue
    }
    guard try kind(session) == .wifi else { return }
    try takeApart(&value, session)
    try askForNetwork(session)
  }

  /// Takes the network out of the text of a QR code, where nobody has named one.
  private mutating func takeApart(_ value: inout SecretBuffer, _ session: Session) throws(Failure) {
    guard !attributes.contains(where: { $0.key == Self.ssid }), let text = value.withBytes({ WiFiText($0) }) else {
      return
    }
    var passphrase = SecretBuffer(capacity: value.count)
    value.withBytes { bytes in text.writePassphrase(from: bytes) { passphrase.append($0) } }
    value = passphrase
    let given = Set(attributes.map(\.key))
    for (key, value) in text.attributes.sorted(by: { $0.key < $1.key }) where !given.contains(key) {
      attributes.append(Attribute(key: key, value: value))
    }
  }

  // MARK: Questions

  private static let ssid = "ssid"

  /// True where somebody can be asked.
  private var canAsk: Bool {
    guard Keyboard.isAttended, let keyboard = try? Keyboard(otherwise: "") else { return false }
    return keyboard.terminal >= 0
  }

  /// Asks for the network's name, which an item of kind `wifi` cannot be without, where nobody has given it.
  mutating func askForNetwork(_ session: Session) throws(Failure) {
    guard kind == ItemKind.wifi.rawValue, !attributes.contains(where: { $0.key == Self.ssid }), canAsk else { return }
    try checkBeforeAsking(session)
    if command.update, try attributesThere(session)[Self.ssid] != nil { return }
    let keyboard = try Keyboard(otherwise: "give it with --attr ssid=NAME")
    guard let typed = try keyboard.ask("Name of the network (ssid): ", .shown),
      let name = typed.withBytes({ bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
      }), !name.isEmpty
    else { throw Failure(Fault.cancelled) }
    attributes.append(Attribute(key: Self.ssid, value: name))
  }

  /// Asks for a kind until one is given; nil for an empty line.
  ///
  /// - Parameter failure: thrown where the person gives up.
  private func askForKind(_ question: String, otherwise failure: Failure) throws(Failure) -> ItemKind? {
    let keyboard = try Keyboard(otherwise: "give its --kind")
    while true {
      guard let typed = try keyboard.ask(question, .shown) else { throw failure }
      let word = typed.withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return String(decoding: bytes.indices.map { bytes[$0] }.filter { $0 != 0x20 }, as: UTF8.self)
      }
      if word.isEmpty { return nil }
      if let kind = ItemKind(rawValue: word) { return kind }
      try keyboard.show("vault: a kind is one of \(ItemKind.allCases.map(\.rawValue).joined(separator: ", "))\n")
    }
  }
}

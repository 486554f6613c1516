internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault deposit`.
struct DepositRequest {
  let command: DepositCommand
  private var name: String { command.name ?? "" }

  init(_ command: DepositCommand) { self.command = command }

  func run() throws {
    if let file = command.sealed { return try depositSealed(file) }
    do throws(NameError) { _ = try ItemName(name) } catch {
      // The name is checked before anybody types a secret for it.
      throw Failure(Fault.invalidName(name: name, reason: error.reason, failed: nil))
    }
    if let key = command.key { try seal(to: key) } else { try depositValue() }
  }

  private func depositValue() throws(Failure) {
    let session = try session()
    var input = input
    let hush = input.isTyped ? Hush.onTerminal() : nil
    defer { _ = hush }
    if input.isTyped { try checkRight(session) }
    var isDenied = false
    let reply = try handingIn(&input, session, isFinal: isDenied) { value, target throws(Failure) in
      var refusal: Fault?
      do throws(Failure) {
        return try session.unlocking(for: command.reason) { vault in
          do { return try vault.deposit(target, value: value) } catch ClientError.fault(let fault) {
            refusal = fault
            throw ClientError.fault(fault)
          }
        }
      } catch {
        if case .denied? = refusal { isDenied = true }
        throw explained(error, after: refusal, session)
      }
    }
    input.noteCutBreak()
    try report(
      Wire.DepositSealedReply(
        number: reply.number, waiting: reply.waiting, version: reply.version, kept: reply.kept, name: name))
  }

  /// Refuses a deposit before a person types a value, if the caller has no right to any deposit and the daemon can tell
  /// that now. A deposit for an item to which the caller has no right is kept aside.
  private func checkRight(_ session: Session) throws(Failure) {
    // Only administrators see the number of requests, and they may do everything.
    guard let status = try session.attempt({ vault in try vault.status() }), status.requests == nil,
      try session.attempt({ vault in try vault.can(nil, Right.deposit.name, name) }) == false,
      let own = try session.attempt({ vault in try vault.grants() })
    else { return }
    let rights = [Right.deposit.name, Right.admin.name]
    if own.grants.contains(where: { $0.active && $0.rights.contains { rights.contains($0) } }) { return }
    throw Failure(Fault.denied(reason: "you may not deposit anything here", request: nil))
  }

  /// The failure of a deposit, with the advice that another class can be deposited now, if it failed because of the
  /// class: before the first unlock, the vault takes deposits of class `always`, if it has the boot key.
  private func explained(_ failure: Failure, after refusal: Fault?, _ session: Session) -> Failure {
    guard case .locked("cold", _)? = refusal, let refusal, failure == Failure(refusal),
      command.accessible != AccessClass.always.name,
      let status = try? session.call({ vault in try vault.status() }),
      !status.warnings.contains(where: { $0.about == "boot-key" })
    else { return failure }
    let more = "until then, only a new item of `--accessible \(AccessClass.always.name)` can be deposited"
    return Failure(failure.exit, failure.event, Sentence.joined(failure.advice ?? "", more))
  }

  private func depositSealed(_ file: String) throws(Failure) {
    let box = try DepositLine.box(in: file)
    let session = try session()
    let reply = try session.unlocking(for: command.reason) { vault in try vault.deposit(sealed: box) }
    guard let reason = reply.keptReason else { return try report(reply) }
    // A script reads no report. Most such boxes are for another vault, or were handed in before.
    if command.globals.json { try Output.json(reply) }
    throw Failure(.invalid, reason, DepositReport.advice)
  }

  private func report(_ reply: Wire.DepositSealedReply) throws(Failure) {
    if command.globals.json {
      try Output.json(reply)
    } else if Keyboard.isAttended {
      Output.note(reply.sentence)
    }
  }

  /// Has the daemon seal the value, which needs neither a vault nor an unlock.
  private func seal(to file: String) throws {
    let key = try DepositLine.key(in: file)
    if let output = command.output {
      try NewFile.check(output, replaces: command.force, reading: [file, command.file ?? "-"])
    }
    let session = try session()
    var input = input
    let reply = try handingIn(&input, session) { value, target throws(Failure) in
      let reply = try session.call { vault in try vault.sealDeposit(target, value: value, to: key) }
      guard let output = command.output else { return reply }
      do { try NewFile.write("\(reply.box)\n", to: output, replaces: command.force) } catch {
        throw Failure(any: error)
      }
      return reply
    }
    input.noteCutBreak()
    if command.globals.json {
      try Output.json { object in
        object.add("name", name)
        object.add(command.output == nil ? "box" : "file", command.output ?? reply.box)
        object.add("fingerprint", reply.fingerprint)
      }
    } else if command.output == nil {
      try Output.foreign(reply.box)
    }
    if Keyboard.isAttended, !command.globals.json {
      Output.note(
        "sealed to the key with the fingerprint \(Printable.text(reply.fingerprint)); "
          + "compare it with `vault show-key` there")
    }
  }

  private func session() throws(Failure) -> Session {
    let session = try Session(command.globals)
    session.takesKind = true
    session.vault.reason = command.reason
    return session
  }

  /// Reads the value and passes it to `body` with its target. If `body` fails, a person who typed the value decides
  /// what happens to it.
  ///
  /// - Parameter isFinal: tells whether the failure is one that another attempt would meet again, whatever the value.
  private func handingIn<R>(
    _ input: inout ValueInput, _ session: Session, isFinal: @autoclosure () -> Bool = false,
    _ body: (borrowing SecretBuffer, Vault.DepositTarget) throws(Failure) -> R
  ) throws(Failure) -> R {
    var value = try value(&input)
    let kept = TypedValue(isTyped: input.isTyped)
    defer { _ = kept }
    var retypes = false
    var kind: String?
    while true {
      do throws(Failure) {
        if retypes {
          kind = nil
          value = try self.value(&input)
        }
        retypes = false
        if kind == nil { kind = try self.kind(of: value, session) }
        guard let text = try networkText(value, kind) else { return try body(value, target(kind)) }
        return try body(NetworkText.passphrase(of: text, in: value), target(kind, text))
      } catch {
        guard input.isTyped, !isFinal() else { throw error }
        retypes = try SecondChance.after(error, .deposit, session) == .correct
      }
    }
  }

  /// Reads the value. If no kind was given, nobody asks the daemon for the item's kind: a depositor may have no right
  /// to find the item.
  private func value(_ input: inout ValueInput) throws(Failure) -> SecretBuffer {
    try input.read(kind: { command.kind.flatMap(ItemKind.init(rawValue:)) ?? .password })
  }

  /// Returns the given kind or, for a value that does not look like a password, the kind that a person names; nil for
  /// neither. A deposit does not change the kind of an existing item, so nobody is asked for it.
  private func kind(of value: borrowing SecretBuffer, _ session: Session) throws(Failure) -> String? {
    guard command.kind == nil, Keyboard.canAsk, let likely = value.withBytes({ LikelyKind(of: $0) }),
      try !isKnown(session)
    else { return command.kind }
    return try KindQuestion.ask(about: likely).rawValue
  }

  /// True if the item exists, as far as the caller may know without an unlock. A sealed deposit is for another vault.
  private func isKnown(_ session: Session) throws(Failure) -> Bool {
    guard !command.seal, let status = try session.attempt({ vault in try vault.status() }), status.state == "unlocked"
    else { return false }
    return try session.attempt({ vault in try vault.show(name) }) != nil
  }

  private var input: ValueInput {
    ValueInput(
      name: name, file: command.file, isExact: command.exact, mayBeEmpty: command.allowEmpty,
      isKindOpen: command.kind == nil)
  }

  /// The text of a network's QR code that was given as the value of an item of kind `wifi`; nil for any other value.
  private func networkText(_ value: borrowing SecretBuffer, _ kind: String?) throws(Failure) -> WiFiText? {
    guard kind == ItemKind.wifi.rawValue, let text = try NetworkText.read(value) else { return nil }
    let key = SetRequest.ssid
    if let given = command.attributes.last(where: { $0.key == key })?.value, let coded = text.attributes[key],
      given != coded
    {
      throw Failure(
        .invalid, "the QR code is for the network \(Printable.quoted(coded)), not for \(Printable.quoted(given))",
        "leave --attr ssid out to deposit what the QR code says")
    }
    return text
  }

  /// The item that the deposit is for.
  ///
  /// - Parameters:
  ///   - kind: the kind of a new item; nil for a password.
  ///   - text: the text of a network's QR code, which describes the item.
  private func target(_ kind: String?, _ text: WiFiText? = nil) -> Vault.DepositTarget {
    let coded = text.map(NetworkText.attributes) ?? []
    let attributes = Dictionary(
      coded.filter { !$0.value.isEmpty } + command.attributes.map { ($0.key, $0.value) }
    ) { _, last in last }
    return Vault.DepositTarget(
      name, kind: kind, attributes: attributes.isEmpty ? nil : attributes, accessible: command.accessible)
  }
}

extension Wire.DepositSealedReply {
  /// The result of the deposit, in words for a person.
  var sentence: String {
    let item = name.map { " for \(Printable.quoted($0))" } ?? ""
    if let keptReason { return "\(keptReason); \(DepositReport.advice)" }
    if waiting { return "deposited\(item); the next unlock decides about it\(place)" }
    if let version { return "stored version \(version)\(name.map { " of \(Printable.quoted($0))" } ?? "")" }
    return "deposited\(item)\(place)"
  }

  /// The reason why the deposit was kept aside, in words for a person; nil if it was not.
  var keptReason: String? { kept.map { "kept aside\(place): \(Printable.text($0))" } }

  private var place: String { number.map { " (deposit \($0))" } ?? "" }
}

internal import VaultWire

/// The passwords of Ansible's vaults. A person is asked once for each id; a password that was given for one vault is
/// tried for the others, too, as ansible(1) does.
struct AnsiblePasswords {
  /// The most wrong answers for one vault.
  private static let mostAnswers = 3
  /// The most derivations of keys, of which each takes milliseconds.
  private static let mostTries = 20_000

  private let source: Source
  private var known: [(id: String, password: [UInt8])] = []
  private var tries = 0

  init(_ source: Source) { self.source = source }

  /// Opens a vault.
  ///
  /// - Parameter file: the file that holds it, which the question names.
  mutating func open(_ envelope: AnsibleEnvelope, in file: Source.File) throws(ImportFailure) -> [UInt8] {
    // The password for the same id is the likely one.
    let likely = known.filter { $0.id == envelope.id } + known.filter { $0.id != envelope.id }
    for (_, password) in likely { if let content = try open(envelope, password) { return content } }
    let name = envelope.id.isEmpty ? file.path : "\(file.path), vault id \(envelope.id)"
    let asked = Source.File(name, [])
    for attempt in 0..<Self.mostAnswers {
      guard let password = try source.secret(.password, of: asked, isAgain: attempt > 0) else {
        if attempt > 0 { break }
        throw ImportFailure(.noSecret, "the vault of Ansible has a password")
      }
      guard let content = try open(envelope, password) else { continue }
      known.append((envelope.id, password))
      return content
    }
    throw ImportFailure(.wrongSecret, "the password of the vault is wrong, or the vault was changed")
  }

  private mutating func open(_ envelope: AnsibleEnvelope, _ password: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    tries += 1
    guard tries <= Self.mostTries else {
      throw ImportFailure(.tooLarge, "there are too many vaults with different passwords; import them in parts")
    }
    return try envelope.open(password)
  }
}

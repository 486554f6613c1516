internal import VaultAPI
internal import VaultModel
internal import VaultStore

/// Verify: tells a client what the check of all records finds.
extension Service {
  /// Findings in one reply: small enough for a frame, whatever the names.
  private static let page = 100

  func verify(_: Wire.Empty, _ connection: Connection) {
    guard case .open = vault.content else { return connection.fail(storeFault) }
    let id = ObjectIdentifier(connection)
    check.readers[id] = IntegrityCheck.Reader(connection)
    connection.hold { [weak self] in self?.check.readers[id] = nil }
    goOnChecking()
  }

  /// Tells those who wait how far the check is, now and then, and who reads.
  func tellProgress(_ keychain: Keychain) {
    guard !check.readers.isEmpty else { return }
    let now = clock.monotonic()
    for reader in check.readers.values where reader.nextReport <= now && reader.connection.isKeepingUp {
      reader.nextReport = now + IntegrityCheck.reportInterval
      reader.connection.reply(Wire.VerifyReply(progress: Wire.Integrity(keychain.integrity)), continues: true)
    }
  }

  /// Tells those who wait what was found. At once, because names must not outlast a lock that hides them.
  func deliver(_ result: Verification, _ keychain: Keychain) {
    let findings = result.findings.map { Wire.Finding($0) }
    let end = Wire.VerifyReply(result: Wire.Verification(result, because: reason(for: result.unchecked, keychain)))
    let readers = check.readers.values
    check.readers = [:]
    for reader in readers {
      var rest = findings[...]
      while !rest.isEmpty {
        reader.connection.reply(Wire.VerifyReply(findings: Array(rest.prefix(Self.page))), continues: true)
        rest = rest.dropFirst(Self.page)
      }
      reader.connection.reply(end)
    }
  }

  func endReaders(with fault: Fault) {
    let readers = check.readers.values
    check.readers = [:]
    for reader in readers { reader.connection.fail(fault) }
  }

  /// Why not everything of some classes could be checked.
  private func reason(for unchecked: [AccessClass], _ keychain: Keychain) -> String? {
    if unchecked.isEmpty { return nil }
    switch state.kind {
    case .unlocked: return "the hashes over the records could not be made yet"
    case .cold: return "the vault was not unlocked since the daemon started"
    default: return "the vault is locked"
    }
  }
}

extension Wire.Finding {
  init(_ finding: Finding) {
    self.init(kind: finding.kind.rawValue, item: finding.item, name: finding.name?.text, text: finding.text)
  }
}

extension Wire.Verification {
  fileprivate init(_ result: Verification, because reason: String?) {
    self.init(
      records: result.records, unharmed: result.unharmed, harmed: result.harmed, omitted: result.omitted,
      unchecked: result.unchecked.map(\.name), reason: reason, changed: result.changed.map(\.name))
  }
}

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
    check.readers.add(connection)
    connection.hold { [weak self] in self?.check.readers.remove(id) }
    goOnChecking()
  }

  /// Tells those who wait how far the check is, now and then, and who reads.
  func tellProgress(_ keychain: Keychain) {
    guard !check.readers.isEmpty else { return }
    check.readers.tell(
      Wire.VerifyReply(progress: Wire.Integrity(keychain.integrity)), every: IntegrityCheck.reportInterval,
      now: clock.monotonic())
  }

  /// Tells those who wait what was found.
  func deliver(_ result: Verification, _ keychain: Keychain) {
    let report = VerifyReport(result, because: reason(for: result.unchecked, keychain))
    for connection in check.readers.takeAll() { tell(report, from: 0, connection) }
  }

  /// Sends the findings from this one on and the result, in turns and while the client reads.
  private func tell(_ report: VerifyReport, from first: Int, _ connection: Connection) {
    let id = ObjectIdentifier(connection)
    let step = Waiter { [weak self, weak connection] in
      guard let self, let connection else { return }
      let page = report.findings.dropFirst(first).prefix(Self.page)
      guard !page.isEmpty else {
        check.reports[id] = nil
        return connection.reply(report.end)
      }
      connection.reply(Wire.VerifyReply(findings: Array(page)), continues: true)
      tell(report, from: first + page.count, connection)
    }
    check.reports[id] = report
    connection.hold { [weak self] in
      step.cancel()
      self?.check.reports[id] = nil
    }
    connection.whenKeepingUp { step.go() }
  }

  func endReaders(with fault: Fault) { answer(check.readers.takeAll()) { $0.fail(fault) } }

  /// The reason why not everything of some classes could be checked.
  private func reason(for unchecked: [AccessClass], _ keychain: Keychain) -> String? {
    if unchecked.isEmpty { return nil }
    switch state.kind {
    case .unlocked: return "the hashes over the records could not be made yet"
    case .cold: return "the vault was not unlocked since the daemon started"
    default: return "the vault is locked"
    }
  }
}

/// The result of a check while it is being told, to however many.
final class VerifyReport {
  private(set) var findings: [Wire.Finding]
  let end: Wire.VerifyReply
  private var namesItems = true

  init(_ result: Verification, because reason: String?) {
    findings = result.findings.map { Wire.Finding($0) }
    end = Wire.VerifyReply(result: Wire.Verification(result, because: reason))
  }

  /// Drops the names of items, which must not outlast a lock that hides them.
  func hideNames() {
    guard namesItems else { return }
    namesItems = false
    for index in findings.indices { findings[index].name = nil }
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

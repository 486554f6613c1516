internal import VaultModel
internal import VaultService
internal import VaultWire

/// The findings of a check or the losses of a salvage on their way to one client, sent some at a time as the client
/// reads. They contain names of items.
final class Report: SecretHolder {
  /// The number of findings in one reply, small enough for a frame, whatever the names.
  private static let page = 100

  private weak var connection: VarlinkConnection?
  /// The findings that are still to be sent.
  private(set) var findings: ArraySlice<Finding>
  private let page: ([Wire.Finding]) -> any WireValue
  private let last: () -> any WireValue
  private var isCalledOff = false

  /// - Parameters:
  ///   - page: makes a reply of some findings, which is followed by others.
  ///   - last: makes the last reply.
  init(
    _ findings: [Finding], to connection: VarlinkConnection, in holders: SecretHolders,
    page: @escaping ([Wire.Finding]) -> any WireValue, last: @escaping () -> any WireValue
  ) {
    self.findings = findings[...]
    self.connection = connection
    self.page = page
    self.last = last
    super.init(in: holders)
  }

  /// Sends the next page when the client has read, each in a separate turn, and then the last reply.
  func send() {
    connection?.whenKeepingUp { [self] in
      guard !isCalledOff, let connection else { return }
      guard !findings.isEmpty else { return connection.reply(last()) }
      connection.reply(page(findings.prefix(Self.page).map { Wire.Finding($0) }), continues: true)
      findings = findings.dropFirst(Self.page)
      send()
    }
  }

  /// Stops sending, and drops the rest.
  func callOff() {
    isCalledOff = true
    findings = []
  }

  override func letGo(for lock: Lock) {
    guard outlives(lock) else { return }
    findings = findings.map { Finding($0.kind, item: $0.item, $0.text) }[...]
  }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && findings.contains { $0.name != nil }
  }
}

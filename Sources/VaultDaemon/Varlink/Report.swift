internal import VaultModel
internal import VaultService
internal import VaultWire

/// The findings of a check or the losses of a salvage on their way to one client: some at a time, while it reads. It holds
/// names of items.
final class Report: SecretHolder {
  /// Findings in one reply: small enough for a frame, whatever the names.
  private static let page = 100

  private weak var connection: VarlinkConnection?
  /// Those that are still to be sent.
  private(set) var findings: ArraySlice<Finding>
  private let page: ([Wire.Finding]) -> any WireValue
  private let last: () -> any WireValue
  private var isCalledOff = false

  /// - Parameters:
  ///   - page: makes the reply of some findings, which others follow.
  ///   - last: makes the reply behind them.
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

  /// Sends the next page, in a turn of its own, when the client reads; and then the last reply.
  func send() {
    connection?.whenKeepingUp { [self] in
      guard !isCalledOff, let connection else { return }
      guard !findings.isEmpty else { return connection.reply(last()) }
      connection.reply(page(findings.prefix(Self.page).map { Wire.Finding($0) }), continues: true)
      findings = findings.dropFirst(Self.page)
      send()
    }
  }

  /// Sends no more of it.
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

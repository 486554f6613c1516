import Testing
import VaultModel

@testable import VaultDaemon

/// Makes every call of the Secret Service and of the portal, and compares the audit entries with the table in
/// ``SecretCallRow``.
@Suite("Each call of the Secret Service in the audit log") struct SecretCallsInLogTests {
  typealias Row = SecretCallRow

  /// The calls in the order in which they are made. The lock comes last but for the calls of a prompt, which a program
  /// has only once something is locked.
  private static let order: [SecretCall] = {
    let last: [SecretCall] = [.lock, .prompt, .dismiss]
    return SecretCall.allCases.filter { !last.contains($0) } + last
  }()

  /// Makes all calls, and compares the entries that they leave.
  private static func walk(
    _ stand: SecretDoorStand, _ way: SecretDoorStand.Way = .right, isRequired: Bool = true,
    _ expected: (Row) -> [String]
  ) throws {
    let steps = order.map { call in
      let row = Row.row(call)
      return SecretDoorStand.Step(
        call: call, interface: row.interface, ready: row.ready, path: row.path, values: row.values,
        isAnswered: row.isAnswered)
    }
    for step in steps {
      let member = step.call.rawValue.split(separator: ".").last.map(String.init) ?? ""
      #expect(SecretCall(step.interface, member) == step.call)
    }
    let (made, early) = try stand.walk(steps, way)
    let entries = try stand.connection.on { client in try client.entries() }
    for call in order {
      let row = Row.row(call)
      let process = try #require(made[call], "\(call)")
      let known = try #require(stand.known[call], "\(call)")
      var told = entries.filter { $0.caller?.pid == process.pid }.map { text($0, known) }
      // A request that waits for room in a pipe is looked at again at the end of its process.
      let gotten = "get ok secret-service/login/NEW"
      if let first = told.firstIndex(of: gotten) {
        told = Array(told[...first]) + told[(first + 1)...].filter { $0 != gotten }
      }
      if !process.error.isEmpty { told.append("→ \(process.error)") }
      #expect(
        told == expected(row).map { $0.replacing("NAME", with: row.name) },
        "\(call), process \(process.pid), of \(entries.map { ($0.caller?.pid ?? 0, text($0, known)) })")
    }
    if isRequired { #expect(early.isEmpty, "entries that were not on the disk before the answer: \(early)") }
  }

  /// An entry as the table has it: `ACTION OUTCOME ITEM: DETAIL`.
  private static func text(_ entry: AuditEntry, _ known: SecretDoorStand.Known) -> String {
    let about = [entry.item, entry.detail].compactMap { $0 }.joined(separator: ": ")
    let text = about.replacing(known.item, with: "ITEM").replacing(known.other, with: "OTHER")
      .replacing(known.collection, with: "MADE").replacing(/[0-9a-f]{16}/, with: "NEW")
      .replacing(/number [0-9]+/, with: "number N")
    return ["\(entry.action.name) \(entry.outcome.name)", text].filter { !$0.isEmpty }.joined(separator: " ")
  }

  private static func settings(_ isRequired: Bool) -> String { "audit = \(isRequired ? "required" : "on")\n" }

  @Test("is there as the table says when it is allowed", arguments: [false, true]) func allowed(isRequired: Bool) throws
  {
    let stand = try SecretDoorStand(Self.settings(isRequired))
    defer { stand.close() }
    try Self.walk(stand, isRequired: isRequired) { $0.before + $0.allowed }
  }

  @Test("is there as the table says after a lock by a program", arguments: [false, true])
  func locked(isRequired: Bool) throws {
    let stand = try SecretDoorStand(Self.settings(isRequired))
    defer { stand.close() }
    try stand.lock()
    try Self.walk(stand, isRequired: isRequired) { $0.beforeLocked + $0.locked }
  }

  @Test("is there as the table says for a program that is confined to something else", arguments: [false, true])
  func confined(isRequired: Bool) throws {
    let stand = try SecretDoorStand(Self.settings(isRequired))
    defer { stand.close() }
    try stand.confine()
    try Self.walk(stand, isRequired: isRequired) { $0.beforeLocked + $0.confined }
  }

  @Test("is there as the table says while the store has failed its check and the log is required") func failed() throws
  {
    let stand = try SecretDoorStand(Self.settings(true))
    defer { stand.close() }
    try stand.damage()
    // Nothing is written to such a store. Its entries stay in memory.
    try Self.walk(stand, isRequired: false) { $0.beforeLocked + $0.failed }
  }

  @Test("is there as invalid with wrong arguments", arguments: [false, true]) func wrong(isRequired: Bool) throws {
    let stand = try SecretDoorStand(Self.settings(isRequired))
    defer { stand.close() }
    try Self.walk(stand, .wrong, isRequired: isRequired) { $0.before + ["call invalid NAME", "→ InvalidArgs"] }
  }

  @Test("is there as denied if its process has ended before it is begun", arguments: [false, true])
  func orphaned(isRequired: Bool) throws {
    let stand = try SecretDoorStand(Self.settings(isRequired))
    defer { stand.close() }
    try Self.walk(stand, .orphaned, isRequired: isRequired) { $0.before + ["call denied NAME", "→ AccessDenied"] }
  }

  @Test("is there with what was done, or as cancelled, if its process ends amid it", arguments: [false, true])
  func left(isRequired: Bool) throws {
    let stand = try SecretDoorStand(Self.settings(isRequired))
    defer { stand.close() }
    try Self.walk(stand, .left, isRequired: isRequired) { $0.before + $0.left }
  }
}

import Glibc
import VaultModel
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// The audit log's entries of calls over the Varlink socket, in words.
enum CallLog {
  /// The calls that are answered although the log is required and cannot be written: an unlock, a lock and the calls
  /// that these need; and, for a failed store, the calls that find out what is left and save it.
  static let exceptions: Set<MethodName> = [
    .getInfo, .getInterfaceDescription, .status, .unlock, .respond, .lock, .attend, .confirm, .dismiss, .audit, .verify,
    .salvage, .backup, .repairAudit, .reload,
  ]

  /// The entry of a call about no item, and about none of the things that have an action of their own.
  static func call(_ method: MethodName, _ outcome: String) -> String { "call \(outcome) \(method.fullName)" }

  /// A whole call.
  ///
  /// - Parameter streams: true to take a stream of replies also where the method does not need that.
  static func frame(_ method: MethodName, _ parameters: String, streams: Bool = false) -> String {
    let more = method.needsMore || streams ? ",\"more\":true" : ""
    let upgrade = method.needsUpgrade ? ",\"upgrade\":true" : ""
    return "{\"method\":\"\(method.fullName)\",\"parameters\":\(parameters)\(more)\(upgrade)}\0"
  }

  /// Returns the entries that the calls of the client's process have left, in order.
  static func told(_ client: ConnectionStand.Inside, _ uid: uid_t = geteuid()) throws -> [String] {
    try client.entries().filter { $0.caller?.pid == getpid() && $0.caller?.uid == uid }.map { entry in
      let about = [entry.item, entry.detail.map(constant)].compactMap { $0 }.joined(separator: ": ")
      return ["\(entry.action.name) \(entry.outcome.name)", about].filter { !$0.isEmpty }.joined(separator: " ")
    }
  }

  /// Replaces what differs from run to run: ids and numbers are random, and times depend on the clock. The settings
  /// that Reload finds changed are the stand's own.
  private static func constant(_ detail: String) -> String {
    detail.replacing(/token [0-9a-f]{32}/, with: "token ID").replacing(/newest time .+/, with: "TIMES")
      .replacing(/number \d{6}/, with: "number N").replacing(/deposit \d+/, with: "deposit N")
      .replacing(/^audit$/, with: "")
  }
}

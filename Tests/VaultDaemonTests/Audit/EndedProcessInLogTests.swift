import Glibc
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// Calls that come over the Varlink connection of a process that has ended, from whoever holds its socket now.
@Suite("A call of a process that has ended, in the audit log") struct EndedProcessInLogTests {
  /// The calls of a client, and the entries that they leave.
  private static let calls =
    CallLog.frame(.get, #"{"name":"a"}"#) + CallLog.frame(.status, "{}")
    + CallLog.frame(.find, "{}")
  private static let entries = ["call denied a: io.vaultd.Vault.Get", CallLog.call(.find, "denied")]

  @Test("is there as denied, and so is each one behind it", arguments: [false, true])
  func ended(isRequired: Bool) throws {
    let stand = try ConnectionStand.unlocked(isRequired ? "audit = required" : "")
    defer { stand.close() }
    try stand.on { client in
      client.connection.isOrphaned = true
      client.send(Self.calls)
    }
    let replies = try stand.received("the refusal")
    #expect(replies.count == 1 && replies[0].contains("io.vaultd.Vault.Denied"), "\(replies)")
    let (isOnDisk, told) = try stand.on { client in
      let isOnDisk = try client.vault.audit.block.count == 0 && !client.vault.keychain().hasUnwrittenAudit
      return (isOnDisk, try CallLog.told(client))
    }
    #expect(isOnDisk || !isRequired)
    #expect(told == Self.entries)
  }

  @Test("is there with what is known of a process that could not be seen any more when it was accepted") func unseen()
    throws
  {
    let stand = try ConnectionStand.unlocked("", pid: 0)
    defer { stand.close() }
    try stand.on { client in
      #expect(client.isOpen)
      client.send(Self.calls)
    }
    let replies = try stand.received("the refusal")
    #expect(replies.count == 1 && replies[0].contains("io.vaultd.Vault.Denied"), "\(replies)")
    let callers = try stand.on { client in
      try client.entries().filter { $0.action == .call && $0.outcome == .denied }.map(\.caller)
    }
    #expect(callers.count == Self.entries.count)
    #expect(callers.allSatisfy { $0?.uid == geteuid() && $0?.executable == nil })
  }
}

import NIOCore
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("An answer in pages") struct PagedAnswersTests {
  /// Returns the order in which two clients read their replies, if one asks for much and the other then asks for
  /// little.
  private static func order(
    _ method: String, _ prepare: @escaping @Sendable (ConnectionStand.Inside) throws -> Void
  ) throws -> [String] {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      try prepare(client)
      let told = Told(try client.another())
      client.kept = told
      client.passAtEachLook(.milliseconds(3))
      client.call(method, more: true)
      told.other.call("Status")
    }
    try stand.goRound("both answers") { client in
      guard let told = client.kept as? Told else { return false }
      told.words += told.other.messages().map { _ in "status" }
      told.words += client.messages().map { $0.contains("\"continues\":true") ? "page" : "end" }
      return told.words.contains("end") && told.words.contains("status")
    }
    return try stand.on { client in
      let told = client.kept as? Told
      told?.other.leave()
      return told?.words ?? []
    }
  }

  private final class Told {
    let other: ConnectionStand.Inside
    var words: [String] = []

    init(_ other: ConnectionStand.Inside) { self.other = other }
  }

  @Test("leaves others their turns between its pages: the list of grants, and that of entries of the log")
  func turns() throws {
    let grants = try Self.order("Grants") { client in
      let keychain = try client.vault.keychain()
      let subject = try Subject(parsing: "user:4242")
      let records = try (0..<200).map { number in
        GrantRecord(
          .grant(
            Grant(subject: subject, pattern: try ItemPattern("a/\(number)"), rights: Rights(.get), created: 1)))
      }
      try keychain.changeGrants(removing: [], adding: records, now: 2)
      client.door.access.load(keychain)
    }
    let entries = try Self.order("Audit") { client in
      for number in 0..<400 {
        client.vault.audit.record(.get, .ok, client.connection.caller, item: "a/\(number)")
      }
    }
    for words in [grants, entries] {
      let place = try #require(words.firstIndex(of: "status"))
      #expect(words.count { $0 == "page" } >= 4, "\(words)")
      #expect(words[place...].contains("page"), "\(words)")
    }
  }
}

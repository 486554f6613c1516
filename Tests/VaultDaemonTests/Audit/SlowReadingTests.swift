import NIOCore
import Synchronization
import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("A long reading of the audit log") struct SlowReadingTests {
  @Test("tells how far it is where nothing was found for a second, so that its client does not give up")
  func progress() throws {
    for seconds in [0, 2] {
      let stand = try ConnectionStand.unlocked("")
      defer { stand.close() }
      let told = Mutex<[String]>([])
      try stand.on { client in
        // More entries than one look at the log reads.
        let long = String(repeating: "x", count: 100)
        for number in 0..<1500 { client.vault.audit.record(.get, .ok, nil, item: "\(long)\(number)") }
        var filter = AuditFilter()
        filter.last = 1
        let reading = try client.assembly.rooms.access.readAudit(filter, for: client.connection.caller)
        client.pass(.seconds(Int64(seconds)))
        client.passAtEachLook(.milliseconds(1))
        client.door.tell(reading, isCheck: false, follows: false, client.connection)
      }
      try stand.goRound("its last reply") { client in
        let texts = client.messages()
        told.withLock { $0 += texts }
        return texts.contains { !$0.contains("\"continues\":true") }
      }
      let replies = told.withLock { $0 }
      #expect(replies.filter { $0.contains("\"progress\"") }.count == (seconds > 1 ? 1 : 0), "\(replies)")
      #expect(replies.filter { $0.contains("\"number\"") }.count == 1)
    }
  }
}

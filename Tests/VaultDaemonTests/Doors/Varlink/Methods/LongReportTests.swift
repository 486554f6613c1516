import Testing
import VaultModel
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("A long report of a check") struct LongReportTests {
  @Test("waits for its client to read what there is of it") func notRead() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      // The report is longer than half a MiB, and at most half of that waits for a client.
      let text = String(repeating: "x", count: 600)
      let findings = (0..<Int64(Finding.limit)).map { Finding(.damaged, item: $0, text) }
      client.stopReading()
      let report = Report(findings, to: client.connection, in: client.vault.holders) {
        Wire.VerifyReply(findings: $0)
      } last: {
        Wire.Empty()
      }
      client.connection.hold(withName: false) { report.callOff() }
      report.send()
      client.kept = report
    }
    try stand.goRound("enough of it to be unread") { !$0.connection.isKeepingUp }
    for _ in 0..<100 { try stand.on { _ in } }
    let left = try stand.on { ($0.kept as? Report)?.findings.count ?? 0 }
    #expect((1..<Finding.limit).contains(left))
  }

  @Test("its progress is told only to those who read") func progress() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let told = try stand.on { client in
      let readers = Readers<Wire.Empty, Wire.Empty>()
      let connection = client.connection
      readers.add(
        Reader(ObjectIdentifier(connection), isKeepingUp: { connection.isKeepingUp }, tell: { _ in }, end: { _ in }))
      func isTold() -> Bool {
        var isAsked = false
        func progress() -> Wire.Empty {
          isAsked = true
          return Wire.Empty()
        }
        readers.tell(progress(), every: 0, now: 0)
        return isAsked
      }
      let reads = isTold()
      client.stopReading()
      let long = Wire.MonitorReply(event: "item", time: 0, name: String(repeating: "x", count: 100_000))
      for _ in 0..<4 where client.connection.isKeepingUp { client.connection.reply(long, continues: true) }
      return [reads, isTold()]
    }
    #expect(told == [true, false])
  }
}

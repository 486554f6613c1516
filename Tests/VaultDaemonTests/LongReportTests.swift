import Testing
import VaultAPI

@testable import VaultDaemon
@testable import VaultStore

@Suite("A long report of a check") struct LongReportTests {
  @Test("waits for its client to read what there is of it") func notRead() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      guard case .open(let keychain) = client.service.vault.content else { return }
      var result = Verification()
      // More than half a MiB in all, of which one client is kept half as much.
      let text = String(repeating: "x", count: 600)
      for item in 0..<Int64(Finding.limit) { result.add(Finding(.damaged, item: item, text)) }
      client.stopReading()
      client.service.check.readers.add(client.connection)
      client.service.deliver(result, keychain)
    }
    try stand.goRound("enough of it to be unread") { !$0.connection.isKeepingUp }
    for _ in 0..<100 { try stand.on { _ in } }
    #expect(try stand.on { $0.service.check.reports.count } == 1)
  }

  @Test("its progress is told only to those who read") func progress() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let told = try stand.on { client in
      var readers = ProgressReaders()
      readers.add(client.connection)
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
      let long = Wire.Event(event: "item", time: 0, name: String(repeating: "x", count: 100_000))
      for _ in 0..<4 where client.connection.isKeepingUp { client.connection.reply(long, continues: true) }
      return [reads, isTold()]
    }
    #expect(told == [true, false])
  }
}

import Testing
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("A call on a connection that has ended") struct EndedConnectionTests {
  @Test("is called off at once, and makes nobody a watcher") func hold() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      let text = Array("{}\0".utf8)
      var inbound = Inbound()
      try inbound.append(unsafe text.span.bytes)
      guard let frame = try inbound.next() else { throw SandboxError("no frame") }
      client.connection.close()
      client.door.monitor(Wire.MonitorParameters(after: nil), frame, client.connection)
      #expect(!client.door.events.isWatched { _ in true })
      var isCalledOff = false
      client.connection.hold(withName: false) { isCalledOff = true }
      #expect(isCalledOff && client.connection.current.onCancel == nil)
    }
  }
}

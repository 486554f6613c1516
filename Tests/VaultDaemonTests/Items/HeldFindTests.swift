import NIOCore
import Testing
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

@Suite("A search that waits for its next turn") struct HeldFindTests {
  @Test("is refused by a lock that hides names, which its query may have", arguments: [false, true])
  func hidden(streams: Bool) throws {
    let stand = try ConnectionStand.unlocked("hide-names = true")
    defer { stand.close() }
    try stand.on { client in
      for number in 0..<400 {
        try client.vault.keychain().set(
          ItemChange(name: ItemName("a\(number)")), value: ConnectionStand.secret([1]), now: 1)
      }
      client.passAtEachLook(.milliseconds(2))
      client.call("Find", #"{"query":"size>1m"}"#, more: streams)
    }
    try stand.goRound("the search to wait") { $0.connection.current.onCancel != nil }
    try stand.on { client in
      #expect(client.connection.current.onCancel != nil && client.messages() == [])
      client.vault.lock(because: .asked)
    }
    let told = try stand.received("the refusal")
    try stand.on { client in
      #expect(told.count == 1 && told.first?.contains("io.vaultd.Vault.Locked") == true, "\(told)")
      #expect(client.connection.onWritable == nil)
    }
  }
}

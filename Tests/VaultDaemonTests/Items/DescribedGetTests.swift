import Testing
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

@Suite("A get that is to describe its item") struct DescribedGetTests {
  @Test(
    "tells of it whoever may find it as well, and gives the value alone to whoever may only get it",
    arguments: ["get", "get,find"])
  func rights(rights: String) throws {
    let stand = try ConnectionStand.unlocked("idle = off", uid: 4242)
    defer { stand.close() }
    try stand.on { client in
      try client.vault.keychain().set(
        ItemChange(name: ItemName("own/a"), attributes: ["user": "ana"]),
        value: ConnectionStand.secret(Array("the value".utf8)), now: 1)
      try client.give(rights, to: 4242, on: "own/*")
      client.call("Get", #"{"name":"own/a","describe":true}"#)
    }
    let told = try stand.received("the value")
    #expect(told.count == 1 && told[0].contains(#""value":"the value""#), "\(told)")
    let isDescribed = rights == "get,find"
    for part in [#""item":"#, #""user":"ana""#] { #expect(told[0].contains(part) == isDescribed, "\(told)") }
  }
}

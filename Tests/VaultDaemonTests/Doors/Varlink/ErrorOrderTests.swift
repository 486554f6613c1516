import Testing
import VaultTesting

@Suite("Which error comes first") struct ErrorOrderTests {
  @Test("where there is no vault, that is what every call about one is told, whatever its parameters")
  func none() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let client = try sandbox.client()
    let calls: [(String, WireClient.Message)] = [
      ("Get", ["name": ""]), ("Code", ["name": ""]), ("Show", ["name": ""]), ("History", ["name": ""]),
      ("Delete", ["names": [""]]),
      ("Move", ["from": "", "to": ""]), ("Copy", ["from": "", "to": ""]), ("Find", ["limit": 0]),
      ("Find", ["query": "("]),
      ("Set", ["name": "", "value": "x"]), ("SetMany", ["items": [["name": ""]]]),
    ]
    for (method, parameters) in calls { #expect(try client.call(method, parameters).error == "NoVault", "\(method)") }
    for method in ["Children", "Attributes"] {
      #expect(try client.call(method, ["limit": 0], more: true).error == "NoVault", "\(method)")
    }
    let questions: [(String, WireClient.Message)] = [
      ("Authenticate", ["name": ""]), ("ChangePassword", ["kind": "none"]), ("AddSlot", ["kind": "none"]),
    ]
    for (method, parameters) in questions {
      #expect(try sandbox.client().call(method, parameters, more: true).error == "NoVault", "\(method)")
    }
  }

  @Test("more items than a call may have are told before any of them is looked at, with their number")
  func many() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    let client = try sandbox.client()
    let items = [WireClient.Message](repeating: ["name": ""], count: 400)
    for (reply, most) in [
      (try client.call("SetMany", ["items": items]), 384),
      (try client.call("Delete", ["names": [String](repeating: "", count: 400)]), 128),
    ] {
      #expect(reply.error == "TooMuch", "\(reply)")
      #expect(reply.string("reason") == "one call may have at most \(most) items, and this has 400")
    }
  }
}

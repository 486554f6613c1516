import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Grants at the socket") struct GrantDoorTests {
  @Test(
    "another uid is told that there is a vault, and gets nothing of it",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func anotherUser() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "a"], stdin: "a secret value")
    // The modes are wide open on purpose: the check of the peer must hold by itself.
    try sandbox.admitEveryone()
    let other = try OtherProcess(in: sandbox, uid: OtherProcess.nobody, gid: getgid())
    func ask(
      _ method: String, _ parameters: WireClient.Message = [:], more: Bool = false, upgrade: Bool = false
    ) throws -> WireClient.Reply {
      try other.connect().call(method, parameters, more: more, upgrade: upgrade)
    }
    func isEmpty(_ list: String, of reply: WireClient.Reply) -> Bool {
      (reply.parameters[list] as? [Any])?.isEmpty == true
    }
    for method in ["Lock", "ListSlots", "ConfirmGrants", "MarkStale"] {
      #expect(try ask(method).error == "Denied", "\(method)")
    }
    for parameters in [["number": 1], ["subject": "user:0", "name": "a"]] as [WireClient.Message] {
      for method in ["Approve", "Deny", "ForgetDenial"] {
        #expect(try ask(method, parameters).error == "Denied", "\(method)")
      }
    }
    for method in ["Requests", "Init", "Unlock", "ChangePassword", "Verify", "Salvage", "Monitor", "Rekey"] {
      #expect(try ask(method, more: true).error == "Denied", "\(method)")
    }
    #expect(try ask("Backup", upgrade: true).error == "Denied")
    // Name `a` is an item; name `b` is none.
    for name in ["a", "b"] {
      for method in ["Get", "Show", "History", "Code", "Undelete", "WhoMay"] {
        #expect(try ask(method, ["name": name]).error == "Denied", "\(method) \(name)")
      }
      #expect(try ask("Set", ["name": name, "value": "x", "update": true]).error == "Denied")
      #expect(try ask("Delete", ["names": [name]]).error == "Denied")
      #expect(try ask("Move", ["from": name, "to": "c"]).error == "Denied")
      #expect(try ask("Copy", ["from": name, "to": "c"]).error == "Denied")
      #expect(try ask("Can", ["subject": "user:0", "right": "get", "name": name]).error == "Denied")
      #expect(try ask("Rights", ["subject": "user:65534", "name": name]).error == "Denied")
      #expect(try ask("Can", ["right": "get", "name": name]).parameters["allowed"] as? Bool == false)
    }
    #expect(try isEmpty("items", of: ask("Find")))
    #expect(try isEmpty("names", of: ask("Children", more: true)))
    #expect(try isEmpty("grants", of: ask("Grants", more: true)))
    let status = try ask("Status")
    #expect(status.string("state") == "unlocked" && !"\(status)".contains("items") && isEmpty("methods", of: status))
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "a secret value")
  }

  @Test(
    "a grant lets another uid have what it is for, until it is revoked, which ends its streams too",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func granted() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", "/dev/null",
    ])
    try sandbox.must(
      ["init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2"],
      stdin: "correct horse battery\n")
    for name in ["own/a", "other"] { try sandbox.must(["set", name], stdin: "value of \(name)") }
    try sandbox.must(["grant", "user:65534", "own/*", "--can", "get,find,watch"])
    try sandbox.admitEveryone()
    let other = try OtherProcess(in: sandbox, uid: OtherProcess.nobody)
    let (own, watcher) = (try other.connect(), try other.connect())
    #expect(try own.call("Get", ["name": "own/a"]).outcome == "value of own/a")
    for name in ["other", "missing"] {
      #expect(try own.call("Get", ["name": name]).outcome == "Denied you may not do this")
    }
    let found = try own.call("Find").parameters["items"] as? [WireClient.Message]
    #expect(found?.map { $0["name"] as? String } == ["own/a"])
    #expect(try watcher.call("Monitor", more: true).string("event") == "state")
    let owner = try sandbox.client()
    for (method, parameters) in [
      ("Set", ["name": "other", "value": "x", "update": true]), ("Move", ["from": "other", "to": "own/b"]),
      ("Move", ["from": "own/b", "to": "away"]),
    ] as [(String, WireClient.Message)] {
      let done = try owner.call(method, parameters)
      #expect(done.error == nil, "\(done)")
    }
    for change in ["created", "deleted"] {
      let event = try watcher.reply()
      #expect(event.string("name") == "own/b" && event.string("change") == change, "\(event)")
    }
    _ = try owner.call("Revoke", ["subject": "user:65534"])
    #expect(try watcher.reply().outcome == "Denied your right to watch has ended")
    #expect(try own.call("Get", ["name": "own/a"]).outcome == "Denied you may not do this")
  }
}

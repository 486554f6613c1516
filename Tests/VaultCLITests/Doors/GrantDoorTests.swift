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
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { unsafe chmod(path, 0o755) }
    unsafe chmod(sandbox.socket, 0o666)
    func ask(_ method: String, _ parameters: String = "{}", _ options: String = "") throws -> String {
      let call = #"{"method":"io.vaultd.Vault.\#(method)","parameters":\#(parameters)\#(options)}"#
      return try sandbox.run(
        ["--reuid=65534", "--clear-groups", "socat", "-t5", "-", "UNIX-CONNECT:\(sandbox.socket)"],
        program: "/usr/bin/setpriv", stdin: Array(call.utf8) + [0]
      ).output
    }
    let denied = "io.vaultd.Vault.Denied"
    for method in ["Lock", "ListSlots", "ConfirmGrants", "MarkStale"] {
      #expect(try ask(method).contains(denied), "\(method)")
    }
    for parameters in [#""number":1"#, #""subject":"user:0","name":"a""#] {
      for method in ["Approve", "Deny", "ForgetDenial"] {
        #expect(try ask(method, "{\(parameters)}").contains(denied), "\(method)")
      }
    }
    for method in ["Requests", "Init", "Unlock", "ChangePassword", "Verify", "Salvage", "Monitor", "Rekey"] {
      #expect(try ask(method, "{}", #","more":true"#).contains(denied), "\(method)")
    }
    #expect(try ask("Backup", "{}", #","upgrade":true"#).contains(denied))
    // Name `a` is an item; name `b` is none.
    for name in ["a", "b"] {
      for method in ["Get", "Show", "History", "Code", "Undelete", "WhoMay"] {
        #expect(try ask(method, #"{"name":"\#(name)"}"#).contains(denied), "\(method) \(name)")
      }
      #expect(try ask("Set", #"{"name":"\#(name)","value":"x","update":true}"#).contains(denied))
      #expect(try ask("Delete", #"{"names":["\#(name)"]}"#).contains(denied))
      #expect(try ask("Move", #"{"from":"\#(name)","to":"c"}"#).contains(denied))
      #expect(try ask("Copy", #"{"from":"\#(name)","to":"c"}"#).contains(denied))
      #expect(try ask("Can", #"{"subject":"user:0","right":"get","name":"\#(name)"}"#).contains(denied))
      #expect(try ask("Can", #"{"right":"get","name":"\#(name)"}"#).contains(#""allowed":false"#))
    }
    #expect(try ask("Find").contains(#""items":[]"#))
    #expect(try ask("Children", "{}", #","more":true"#).contains(#""names":[]"#))
    #expect(try ask("Grants", "{}", #","more":true"#).contains(#""grants":[]"#))
    let status = try ask("Status")
    #expect(status.contains(#""state":"unlocked""#) && !status.contains("items") && status.contains(#""methods":[]"#))
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
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { unsafe chmod(path, 0o755) }
    unsafe chmod(sandbox.socket, 0o666)
    let outcome = try sandbox.run(["-c", Self.script, sandbox.socket], program: "/usr/bin/python3")
    #expect(
      outcome.output == """
        value of own/a
        Denied you may not do this
        Denied you may not do this
        ['own/a']
        state
        own/b created
        own/b deleted
        Denied what let you watch was revoked
        Denied you may not do this

        """, "\(outcome)")
  }

  /// A script that calls as another user, in a child process, and as the user who runs the tests.
  private static let script =
    VarlinkScript.prelude + """
      owner = connect()
      ready, tell = os.pipe()
      child = os.fork()
      if child == 0:
          os.setgroups([])
          os.setgid(65534)
          os.setuid(65534)
          own = connect()
          print(call(own, "Get", name="own/a")["value"])
          for name in ["other", "missing"]: print(call(own, "Get", name=name))
          print([item["name"] for item in call(own, "Find")["items"]])
          watcher = connect()
          print(call(watcher, "Monitor", more=True)["event"])
          os.write(tell, b"x")
          for _ in range(2):
              event = answer(watcher)
              print(event["name"], event["change"])
          os.write(tell, b"x")
          print(answer(watcher))
          print(call(own, "Get", name="own/a"))
          sys.stdout.flush()
          os._exit(0)
      os.close(tell)
      assert os.read(ready, 1), "the other user has ended"
      for method, parameters in [
          ("Set", {"name": "other", "value": "x", "update": True}), ("Move", {"from": "other", "to": "own/b"}),
          ("Move", {"from": "own/b", "to": "away"}),
      ]:
          done = call(owner, method, **parameters)
          assert type(done) is dict, done
      assert os.read(ready, 1), "the other user has ended"
      call(owner, "Revoke", subject="user:65534")
      os.waitpid(child, 0)
      """
}

import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Requests at the socket", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct RequestDoorTests {
  /// Makes a machine's vault, unlocked, that every user reaches.
  private func sandbox(_ settings: String = "", granting grant: [String] = []) throws -> Sandbox {
    let sandbox = try Sandbox()
    let settings = try sandbox.write(settings, to: "vaultd.conf")
    chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(
      ["init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2"],
      stdin: "correct horse battery\n")
    for name in ["a", "b"] { try sandbox.must(["set", name], stdin: "value of \(name)") }
    if !grant.isEmpty { try sandbox.must(["grant"] + grant) }
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { chmod(path, 0o755) }
    chmod(sandbox.socket, 0o666)
    return sandbox
  }

  private static func word(_ length: Int) -> String {
    String((0..<length).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  private func chmod(_ path: String, _ mode: mode_t) { unsafe Glibc.chmod(path, mode) }

  private func run(_ sandbox: Sandbox, _ asker: String, _ owner: String) throws -> String {
    // The asker's code stands in the child's branch of the script.
    let indented = asker.split(separator: "\n").map { "    \($0)\n" }.joined()
    let outcome = try sandbox.run(
      ["-c", Self.prelude + indented + Self.between + owner + Self.end, sandbox.socket], program: "/usr/bin/python3")
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  @Test("a caller that waits has its value when it is approved, and is refused when it is denied or its time is up")
  func answers() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      own = connect()
      print(call(own, "Get", name="a", reason="one", wait_ms=60000))
      print(call(own, "Get", name="a", reason="two", wait_ms=60000))
      print(call(own, "Get", name="b", reason="three", wait_ms=100))
      print(call(own, "Get", name="b", reason="four", wait_ms=60000))
      """,
      """
      approve(asked("one"))
      done = call(owner, "Deny", number=asked("two"))
      assert done == {"subject": "user:nobody", "name": "a"}, done
      # The same request as the one whose caller waits no longer.
      approve(asked("four"), uses=2)
      """)
    #expect(
      output == """
        value of a
        Denied an administrator has denied this; it may be requested again in 1 min
        Unanswered
        value of b

        """)
  }

  @Test("an approval of a session is for one process, and gone at a lock") func session() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      own = connect()
      print(call(own, "Get", name="a", reason="one", wait_ms=60000))
      sys.stdout.flush()
      if os.fork() == 0:
          print(call(connect(), "Get", name="a"))
          sys.stdout.flush()
          os._exit(0)
      os.wait()
      print(call(connect(), "Get", name="a"))
      print(call(own, "Get", name="b", reason="two", wait_ms=60000))
      """,
      """
      number = asked("one")
      wrong = call(owner, "Approve", number=number, session=True, pid=1)
      assert wrong.startswith("Busy"), wrong
      approve(number, session=True, pid=child)
      number = asked("two")
      states = [(request["state"], request.get("pid")) for request in requests()]
      assert states == [("pending", child), ("approved", child)], states
      call(owner, "Lock")
      states = [request["state"] for request in requests()]
      assert states == ["pending"], states
      call(owner, "Deny", number=number)
      """)
    #expect(
      output == """
        value of a
        Denied you may not do this
        value of a
        Denied an administrator has denied this; it may be requested again in 1 min

        """)
  }

  @Test("a request of a process that has ended gives nobody anything, and costs no approval") func ended() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      if os.fork() == 0:
          first = connect()
          send(first, "Get", name="a", reason="one", wait_ms=60000)
          if os.fork() == 0:
              # Its socket is here as well.
              print(answer(first))
              sys.stdout.flush()
          else:
              os.read(ready, 1)
          os._exit(0)
      os.wait()
      print(call(connect(), "Get", name="b", reason="two", wait_ms=60000))
      """,
      """
      number = asked("one")
      os.write(go, b"x")
      # Then the process that connected has ended.
      two = asked("two")
      approve(number)
      while any(request.get("number") == number and request["state"] == "pending" for request in requests()): pass
      uses = [request["uses"] for request in requests() if request["state"] == "approved"]
      assert uses == [1], uses
      approve(two)
      """)
    #expect(output.contains("value of b") && !output.contains("value of a"), "\(output)")
  }

  @Test("where names are hidden a lock ends what waits, and leaves none of the names in memory") func hidden() throws {
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    // Swift keeps a short string inline in the list and a long one elsewhere in memory, so test both.
    let names = (1...3).map { _ in Self.word(40) } + (1...12).map { _ in Self.word(14) }
    let asking = names.map { "call(own, 'Get', name='\($0)', reason='\($0.prefix(13))')" }.joined(separator: "\n")
    let output = try run(
      sandbox,
      """
      waiting, own = connect(), connect()
      send(waiting, "Get", name="a", reason="one", wait_ms=60000)
      \(asking)
      print(answer(waiting))
      """,
      """
      asked("\(names[14].prefix(13))")
      call(owner, "Deny", number=asked("\(names[3].prefix(13))"))
      call(owner, "Lock")
      left = requests()
      assert left == [], left
      """)
    #expect(output == "Locked\n")
    guard MemorySearch.isPossible else { return }
    let words = Dictionary(uniqueKeysWithValues: names.map { ($0, Array($0.utf8)) })
    #expect(try MemorySearch(pid: try #require(sandbox.daemonPid)).find(words).isEmpty)
  }

  @Test("administrators alone are told of requests, by their numbers") func events() throws {
    let sandbox = try sandbox(granting: ["user:65534", "b", "--can", "watch"])
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      watcher = connect()
      print(call(watcher, "Monitor", more=True)["event"])
      print(call(connect(), "Get", name="a", reason="one", wait_ms=60000))
      event = answer(watcher)
      print(event["event"], event["name"])
      """,
      """
      watcher = connect()
      call(watcher, "Monitor", more=True)
      number = asked("one")
      approve(number)
      event = answer(watcher)
      while event["event"] != "request" or event["change"] == "asked": event = answer(watcher)
      assert event["number"] == number and event["change"] == "approved" and "name" not in event, event
      call(owner, "Set", name="b", value="x", update=True)
      """)
    #expect(output == "state\nvalue of a\nitem b\n")
  }

  @Test("an administrator's agent is told of a request, and its answer lets the caller go on; nobody else attends")
  func agent() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      os.read(ready, 1)
      own = connect()
      print(call(own, "Attend", more=True, faces=["terminal"]))
      print(call(own, "Get", name="a", reason="one", ask=True))
      print(call(own, "Get", name="b", reason="two", ask=True))
      """,
      """
      agent = connect()
      assert call(agent, "Attend", more=True, faces=["terminal"])["event"] == "attending"
      os.write(go, b"x")
      told = answer(agent)["inquiry"]
      assert (told["about"], told["name"], told["subject"]) == ("approval", "a", "user:nobody"), told
      assert told["askers"][0]["uid"] == 65534 and told["askers"][0]["reason"] == "one", told
      approve(told["number"])
      event = answer(agent)
      while event["event"] == "inquiry" and event["inquiry"]["name"] == "a": event = answer(agent)
      assert event["why"] == "answered" and event["number"] == told["number"], event
      told = answer(agent)["inquiry"]
      assert told["name"] == "b", told
      while told["count"] != 1: told = answer(agent)["inquiry"]
      assert call(owner, "Dismiss", inquiry=told["number"]) == {}
      assert requests()[0]["number"] == told["number"], requests()
      """)
    #expect(
      output == """
        Denied this is for the vault's administrators
        value of a
        Cancelled

        """)
  }

  /// The script's beginning: it asks as another user, in a child process, and answers as the user who runs the tests.
  private static let prelude =
    VarlinkScript.prelude + """
      parameters = answer
      def answer(client):
          found = parameters(client)
          return found.get("value", found) if type(found) is dict else found
      ready, go = os.pipe()
      child = os.fork()
      if child == 0:
          os.setgroups([])
          os.setgid(65534)
          os.setuid(65534)

      """
  /// The end of the asker's part and the beginning of the owner's.
  private static let between = """

        sys.stdout.flush()
        os._exit(0)
    owner = connect()
    def requests():
        found, part = [], call(owner, "Requests", more=True)["requests"]
        while part:
            found += part
            part = answer(owner)["requests"]
        return found
    def asked(reason):
        while True:
            for request in requests():
                if request.get("reason") == reason: return request["number"]
    def approve(number, **terms):
        done = call(owner, "Approve", number=number, **terms)
        assert type(done) is dict, done

    """
  private static let end = """

    assert os.waitpid(child, 0)[1] == 0, "the other user has failed"
    """
}

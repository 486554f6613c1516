import Foundation
import Testing
import VaultTesting

@Suite("Agents at the socket") struct AttendDoorTests {
  /// Makes a user's vault with the items `web` and `bank`, which requires the password; `settings` adds lines to the
  /// configuration.
  private func sandbox(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.configure("pam-service = vault-test-none\n" + settings)
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    try sandbox.must(["set", "bank", "--require", "password"], stdin: "1234")
    return sandbox
  }

  @discardableResult
  private func run(_ sandbox: Sandbox, _ script: String) throws -> String {
    let outcome = try sandbox.run(
      ["-c", Self.prelude + script, sandbox.socket, password], program: "/usr/bin/python3")
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  @Test("ten who read at once have one question asked, and one unlock serves them all") func tenReaders() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try run(
      sandbox,
      """
      agent = attend()
      call(connect(), "Lock")
      assert event(agent)["notice"] == "locked"
      readers = [ask("Get", name="web", ask=True, reason="to work") for _ in range(10)]
      while True:
          told = event(agent)
          assert told["event"] == "inquiry" and told["inquiry"]["about"] == "unlock", told
          if told["inquiry"]["count"] == 10: break
      asker = told["inquiry"]["askers"][0]
      assert len(told["inquiry"]["askers"]) == 8 and asker["reason"] == "to work", told
      assert asker["chain"][:2] == [name(readers[0][0]), name(os.getpid())], (asker, name(os.getpid()))
      assert asker["uid"] == os.getuid() and asker["pid"] in [pid for pid, _ in readers], asker
      assert converse("Unlock") == "done"
      for reader in readers: assert ended(reader) == "hunter2"
      assert event(agent)["why"] == "answered"
      assert event(agent)["notice"] == "unlocked"
      """)
  }

  @Test("a dismissal ends all that were asked for, and those that come in the next minute") func dismissal() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      agent = attend()
      call(connect(), "Lock")
      readers = [ask("Get", name="web", ask=True) for _ in range(10)]
      waiting = ask("Get", name="web", wait_ms=60000)
      while True:
          told = event(agent)
          if told["event"] == "inquiry" and told["inquiry"]["count"] == 11: break
      assert call(connect(), "Dismiss", inquiry=told["inquiry"]["number"]) == {}
      for reader in readers: assert ended(reader) == "Cancelled"
      assert event(agent)["why"] == "dismissed"
      print(call(connect(), "Get", name="web", ask=True))
      print(call(connect(), "Get", name="web"))
      print(call(connect(), "Dismiss", inquiry=told["inquiry"]["number"]))
      assert converse("Unlock") == "done"
      assert ended(waiting) == "hunter2"
      """)
    #expect(output == "Cancelled\nLocked\nNoSuchRequest\n")
  }

  @Test("with no agent nobody waits for one") func nobody() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      print(call(connect(), "Get", name="bank", ask=True))
      print(call(connect(), "Get", name="bank", wait_ms=60000))
      call(connect(), "Lock")
      print(call(connect(), "Get", name="web", ask=True))
      print(call(connect(), "Get", name="web", ask=True, wait_ms=60000))
      """)
    #expect(output == "PresenceRequired\nPresenceRequired\nLocked\nLocked\n")
  }

  @Test("presence that an agent brings counts for the session that waits, and for no other") func presence() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      agent = attend()
      reader = ask("Get", name="bank", ask=True)
      told = event(agent)["inquiry"]
      assert (told["about"], told["name"], told["require"]) == ("presence", "bank", "password"), told
      number = told["number"]
      # Another process of the user may neither answer nor dismiss it.
      for method in ["Dismiss", "Authenticate"]:
          print(ended(ask(method, inquiry=number, more=method != "Dismiss")))
      assert call(connect(), "Authenticate", more=True, inquiry=number, name="bank") == "InvalidParameter"
      assert converse("Authenticate", inquiry=number) == "done"
      print(ended(reader))
      assert event(agent)["why"] == "answered"
      print(call(connect(), "Get", name="bank"))
      print(ended(ask("Get", name="bank")))
      """)
    #expect(
      output == """
        Denied this process was not asked
        Denied this process was not asked
        1234
        PresenceRequired
        PresenceRequired

        """)
  }

  @Test("the first answer counts, and an agent that goes away leaves the question to the other") func twoAgents() throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      first, second = attend(), attend()
      call(connect(), "Lock")
      reader = ask("Get", name="web", ask=True)
      for agent in [first, second]:
          while event(agent)["event"] != "inquiry": pass
      first.shutdown(socket.SHUT_RDWR)
      assert converse("Unlock") == "done"
      print(ended(reader))
      assert event(second)["why"] == "answered"
      call(connect(), "Lock")
      reader = ask("Get", name="web", ask=True)
      while event(second)["event"] != "inquiry": pass
      second.shutdown(socket.SHUT_RDWR)
      print(ended(reader))
      """)
    #expect(output == "hunter2\nLocked\n")
  }

  @Test("an agent that cannot ask says so, and who waits has the answer that there is without it") func unable() throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      agent = attend()
      reader = ask("Get", name="bank", ask=True)
      number = event(agent)["inquiry"]["number"]
      assert call(connect(), "Dismiss", inquiry=number, unable=True) == {}
      print(ended(reader))
      assert event(agent)["why"] == "gone"
      """)
    #expect(output == "PresenceRequired\n")
  }

  @Test("a call whose client goes away is asked for no more") func clientGone() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try run(
      sandbox,
      """
      agent = attend()
      reader = connect()
      send(reader, "Get", name="bank", ask=True)
      assert event(agent)["event"] == "inquiry"
      reader.close()
      assert event(agent)["why"] == "gone"
      """)
  }

  @Test("a lock that hides names takes back the question for an item, and refuses who waits") func hidden() throws {
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      agent = attend()
      reader = ask("Get", name="bank", ask=True)
      assert event(agent)["event"] == "inquiry"
      call(connect(), "Lock")
      told = [event(agent), event(agent)]
      assert sorted([each.get("why", each.get("notice")) for each in told]) == ["gone", "locked"], told
      print(ended(reader))
      assert converse("Unlock") == "done"
      entries = call(connect(), "Audit", more=True, action="get")["entries"]
      print([(entry["outcome"], entry["item"]) for entry in entries])
      """)
    #expect(output == "Locked\n[('locked', 'bank')]\n")
  }

  @Test(
    "a call that a dismissal has ended is over: nothing of it comes later, and nothing stays where names are hidden")
  func over() throws {
    let sandbox = try sandbox("hide-names = true\n")
    defer { sandbox.close() }
    // Swift keeps a short string inline and a long one elsewhere in memory, so test both.
    let names = [14, 14, 14, 14, 40, 40, 40, 40].map { length in
      String((0..<length).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
    }
    for name in names { try sandbox.must(["set", name, "--require", "password"], stdin: "x") }
    let output = try run(
      sandbox,
      """
      agent, unread = attend(), attend()
      own = []
      for name in \(names):
          own.append(connect())
          send(own[-1], "Get", name=name, ask=True, reason=name[::-1], wait_ms=1000)
          told = event(agent)
          assert told["event"] == "inquiry" and told["inquiry"]["name"] == name, told
          if name != \"\(names[5])\":
              assert call(connect(), "Dismiss", inquiry=told["inquiry"]["number"]) == {}
              assert answer(own[-1]) == "Cancelled"
              assert event(agent)["why"] == "dismissed"
      call(connect(), "Lock")
      # By its end the time of all others is over as well.
      print(call(connect(), "Get", name="web", wait_ms=1500))
      for client in own[:5] + own[6:]: print(call(client, "Get", name="web"))
      """)
    #expect(output == "TimedOut\n" + String(repeating: "Locked\n", count: names.count - 1))
    guard MemorySearch.isPossible else { return }
    let sought = Dictionary(
      uniqueKeysWithValues: (names + names.map { String($0.reversed()) }).map { ($0, Array($0.utf8)) })
    #expect(try MemorySearch(pid: try #require(sandbox.daemonPid)).find(sought).isEmpty)
  }

  @Test("a change of the item has a call that waits for presence look once more, and wait on") func changed() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      agent = attend()
      reader = ask("Get", name="bank", ask=True)
      number = event(agent)["inquiry"]["number"]
      # A grant's presence: the password that was just given counts.
      for value in range(3): assert call(connect(), "Set", name="bank", value=str(value), update=True) != "Denied"
      # What was to be done after that is done.
      for turn in range(50): call(connect(), "Status")
      print([entry["outcome"] for entry in call(connect(), "Audit", more=True, action="get")["entries"]])
      assert converse("Authenticate", inquiry=number) == "done"
      print(ended(reader))
      print([entry["outcome"] for entry in call(connect(), "Audit", more=True, action="get")["entries"]])
      """)
    #expect(output == "[]\n2\n['ok']\n")
  }

  @Test("a call that waits for presence leaves one entry, that of its end") func oneEntry() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["set", "key", "--require", "password", "--generate", "ed25519", "--use", "sign"])
    let output = try run(
      sandbox,
      """
      print(ended(ask("Get", name="bank")))
      agent = attend()
      for method, parameters in [("Get", {"name": "bank"}), ("Sign", {"name": "key", "value": "x"})]:
          late = ask(method, ask=True, wait_ms=1500, **parameters)
          assert event(agent)["event"] == "inquiry"
          print(ended(late))
          assert event(agent)["why"] == "gone"
          reader = ask(method, ask=True, **parameters)
          number = event(agent)["inquiry"]["number"]
          assert converse("Authenticate", inquiry=number) == "done"
          assert event(agent)["why"] == "answered"
          ended(reader)
          dismissed = ask(method, ask=True, **parameters)
          assert call(connect(), "Dismiss", inquiry=event(agent)["inquiry"]["number"]) == {}
          assert event(agent)["why"] == "dismissed"
          print(ended(dismissed))
      for entry in call(connect(), "Audit", more=True)["entries"]:
          if entry["action"] in ("get", "use"):
              print(entry["action"], entry["outcome"], entry["item"], entry.get("detail"))
      """)
    #expect(
      output == """
        PresenceRequired
        TimedOut
        Cancelled
        TimedOut
        Cancelled
        get presence bank None
        get presence bank None
        get ok bank None
        get cancelled bank None
        use presence key signature
        use ok key signature
        use cancelled key signature

        """, "\(output)")
  }

  @Test("a wrong password is told of") func failedUnlock() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try run(
      sandbox,
      """
      agent = attend()
      call(connect(), "Lock")
      assert event(agent)["notice"] == "locked"
      assert converse("Unlock", "wrong").startswith("AuthenticationFailed")
      told = event(agent)
      assert told["notice"] == "failed-unlock" and told["asker"]["pid"] == os.getpid(), told
      """)
  }

  @Test("vault get asks an agent where it has no terminal, and with --wait 0 nobody; status tells of the agent")
  func command() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let output = try run(
      sandbox,
      """
      import subprocess
      def vault(*arguments):
          return subprocess.Popen(["\(Sandbox.path(of: "vault"))", *arguments], stdout=-1, stderr=-1, text=True)
      agent = attend()
      shown = vault("status").communicate()[0]
      assert f"process {os.getpid()}" in shown and "asks by terminal, since" in shown, shown
      assert '"faces":["terminal"]' in vault("status", "--json").communicate()[0]
      now = vault("get", "bank", "--wait", "0")
      print(now.communicate()[1].split(";")[0], now.returncode)
      asking = vault("get", "bank")
      told = event(agent)["inquiry"]
      assert told["name"] == "bank" and told["askers"][0]["pid"] == asking.pid, told
      assert converse("Authenticate", inquiry=told["number"]) == "done"
      print(asking.communicate()[0])
      """)
    #expect(output == "vault: `bank` requires the password, and nobody was asked 77\n1234\n", "\(output)")
  }

  /// Python functions: `ask` makes a call from a process and session of its own, and `ended` is its outcome; `attend`
  /// makes an agent, whose next event is `event`; `converse` answers a conversation.
  static let prelude =
    VarlinkScript.prelude + """
      def ask(method, **parameters):
          end, start = os.pipe()
          pid = os.fork()
          if pid == 0:
              os.setsid()
              found = call(connect(), method, **parameters)
              if type(found) is dict: found = found.get("value", json.dumps(found))
              os.write(start, found.encode())
              os._exit(0)
          os.close(start)
          return pid, end
      def ended(asked):
          found = os.read(asked[1], 65536).decode()
          os.waitpid(asked[0], 0)
          return found
      def attend():
          agent = connect()
          first = call(agent, "Attend", more=True, faces=["terminal"])
          assert type(first) is dict and first["event"] == "attending", first
          return agent
      event = answer
      def name(pid): return open(f"/proc/{pid}/comm").read().strip()
      def converse(method, secret=sys.argv[2], **parameters):
          client = connect()
          send(client, method, more=True, interactive=True, **parameters)
          while True:
              found = answer(client)
              if type(found) is str: return found
              if not found.get("prompt"): return "done"
              if found["prompt"]["style"] == "secret":
                  given = call(connect(), "Respond", conversation=found["conversation"], answer=secret)
                  assert given == {}, given

      """
}

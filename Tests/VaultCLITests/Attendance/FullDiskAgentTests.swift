import Testing
import VaultTesting

@Suite("Agents on a disk that takes no more", .enabled(if: Root.isAtHand, "needs root to mount one"))
struct FullDiskAgentTests {
  @Test("while a required audit log cannot be written, an agent attends, confirms and dismisses, and nothing is signed")
  func attends() throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try remount("size=2m")
      try sandbox.stopDaemon()
      try sandbox.startDaemon(config: sshAgentOn + "audit = required\n")
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      try sandbox.must(["set", "token"], stdin: "kept")
      let early = try AttendingClient(sandbox)
      let key = SSHTestKey(Array(0..<32))
      #expect(try sandbox.join().code(key.adding(constraints: [2])) == 6)
      let (plain, gate, forwarded) = (SSHTestKey(1), SSHTestKey(2), try sandbox.join())
      #expect(try sandbox.join().code(plain.adding()) == 6)
      // On a full disk no call is begun that could ask somebody.
      func begin() throws -> (client: WireClient, number: Int) {
        let client = try sandbox.join()
        client.ask(.sign(key.blob, .login(key.blob, .zeros(32))))
        return (client, try #require(early.nextInquiry().number))
      }
      let (first, second) = (try begin(), try begin())
      try sandbox.fillDisk()
      // The pages already allocated may have room for further entries.
      var count = 0
      while try sandbox.run("get", "token").status == 0, count < 500 { count += 1 }
      #expect(count < 500)
      // ssh continues after a refused binding, so the session counts from then on.
      #expect(try forwarded.code(.bind(gate, .zeros(32), isForwarding: true)) == 5)

      let late = try AttendingClient(sandbox)
      let told: Set<Int?> = [try late.nextInquiry().number, try late.nextInquiry().number]
      #expect(told == [first.number, second.number])
      for (method, asked, why) in [("Confirm", first, "answered"), ("Dismiss", second, "dismissed")] {
        let reply = try sandbox.client().call(method, ["inquiry": asked.number])
        #expect(reply.error == nil && reply.parameters.isEmpty, "\(method) \(reply)")
        for agent in [early, late] {
          let event = try agent.next("withdrawn")
          #expect(event.number == asked.number && event["why"] as? String == why, "\(event)")
        }
        // Nothing is signed without an entry on the disk, whatever the person has answered.
        #expect(try asked.client.code() == 5, "\(method)")
        #expect(try sandbox.outcome(method, ["inquiry": asked.number]) == "NoSuchRequest")
      }
      #expect(try sandbox.outcome("Get", ["name": "token"]).hasPrefix("StorageFailed "))

      try remount("size=8m")
      #expect(try sandbox.must(["get", "token"]) == "kept")
      #expect(try forwarded.code(.sign(plain.blob, .login(plain.blob, .zeros(32)))) == 14)
      // The log has an entry for everything that happened meanwhile.
      let log = try sandbox.must(["audit", "--json", "-n", "1000"]).split(separator: "\n")
      func entries(_ action: String, _ outcome: String, _ words: String) -> Int {
        log.count { $0.contains(#""action":"\#(action)","outcome":"\#(outcome)""#) && $0.contains(words) }
      }
      #expect(entries("attend", "ok", "terminal") == 2, "\(log)")
      #expect(entries("approve", "ok", "number \(first.number)") == 1, "\(log)")
      #expect(entries("dismiss", "ok", "number \(second.number)") == 1, "\(log)")
      #expect(entries("call", "missing", "io.vaultd.Vault.Confirm") == 1, "\(log)")
      #expect(entries("call", "missing", "io.vaultd.Vault.Dismiss") == 1, "\(log)")
      #expect(entries("use", "ok", " for someone on ") == 1, "\(log)")
    }
  }
}

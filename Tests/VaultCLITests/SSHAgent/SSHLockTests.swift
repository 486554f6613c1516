import Testing
import VaultTesting

@Suite("Requests that wait at the ssh-agent when the vault is locked") struct SSHLockTests {
  /// A key whose use a person allows each time.
  private let asked = SSHTestKey(1)
  /// A key that is used without a question.
  private let free = SSHTestKey(2)

  private func sign(_ key: SSHTestKey) -> [UInt8] { .string(.sign(key.blob, .login(key.blob, .zeros(32)))) }

  @Test(
    "are not handled in the middle of the lock, also if it first ends the agent that asks", arguments: [false, true])
  func ahead(endsAgent: Bool) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let client = try sandbox.join()
    #expect(try client.code(asked.adding(constraints: [2])) == 6)
    #expect(try client.code(free.adding()) == 6)
    // A lock tells the youngest connection first.
    let agent = try AttendingClient(sandbox)
    client.send(sign(asked) + sign(free))
    #expect(try agent.nextInquiry()["about"] as? String == "confirmation")
    if endsAgent { agent.sendHalfCall() }
    // Once `Status` is answered, the daemon has also read what came before.
    _ = try sandbox.outcome("Status")
    _ = try sandbox.outcome("Lock")
    #expect(try client.code() == 5)
    #expect(try client.code() == nil)
  }

  @Test("are wiped, with the connection, if a request finds that the vault has to be locked") func deadline() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let clock = try MachineClock(in: sandbox)
    try clock.hold()
    try sandbox.startDaemon(config: sshAgentOn + "idle = 5m\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    let client = try sandbox.join()
    #expect(try client.code(free.adding()) == 6)
    let adding: [UInt8] = .string(asked.adding())
    try clock.pass(seconds: 600)
    client.send(.string(.list) + adding.prefix(60))
    #expect(try client.answer() == [12, 0, 0, 0, 0])
    _ = client.sendWithoutWaiting(Array(adding.dropFirst(60)))
    #expect(try client.code() == nil)
  }
}

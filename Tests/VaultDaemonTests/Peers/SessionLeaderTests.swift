import Glibc
import Testing

@testable import VaultDaemon

@Suite("The leader of a session") struct SessionLeaderTests {
  @Test("has no start once it has ended, even while its parent has not waited for it", arguments: [true, false])
  func zombie(wasKnown: Bool) throws {
    var pid: pid_t = 0
    let arguments = unsafe [strdup("sleep"), strdup("600"), nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    try #require(unsafe posix_spawn(&pid, "/bin/sleep", nil, nil, arguments, [nil]) == 0)
    defer {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    let known = KnownProcesses()
    let started = try #require(PeerProcess.start(of: pid))
    if wasKnown { for _ in 0..<2 { #expect(known.start(ofLeader: pid) == started) } }
    kill(pid, SIGKILL)
    var info = unsafe siginfo_t()
    try #require(unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0)
    #expect(known.start(ofLeader: pid) == nil)
    // The number still belongs to the zombie, which is what the answer must not come from.
    #expect(PeerProcess.start(of: pid) == started)
  }
}

import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("A rekey while somebody floods the daemon") struct RekeyFloodTests {
  private static let password = "correct horse battery"

  @Test(
    """
    ends soon, and the vault is whole after a restart, though another user without any right sends searches all the \
    while
    """,
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func flooded() throws {
    for isFlooded in [false, true] {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      func start() throws {
        try sandbox.startDaemon(arguments: [
          "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", "/dev/null",
        ])
      }
      func unlock() throws { try sandbox.must(["unlock", "--password-stdin"], stdin: Self.password + "\n") }
      try start()
      let floor = ["--kdf-memory", "19m", "--kdf-passes", "2"]
      try sandbox.must(["init", "--password-stdin"] + floor, stdin: Self.password + "\n")
      for number in 0..<20 { try sandbox.must(["set", "item/\(number)"], stdin: "value \(number)") }
      // A restart begins a new chain of the audit log with the next entry; the rekey ends before that entry is written.
      try sandbox.stopDaemon()
      try start()
      try unlock()
      // The socket is open to the other user until that user has connected.
      for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { unsafe chmod(path, 0o755) }
      unsafe chmod(sandbox.socket, 0o666)
      let outcome = try sandbox.run(
        ["-c", Self.script, sandbox.socket, Sandbox.path(of: "vault"), isFlooded ? "flood" : "quiet"],
        program: "/usr/bin/python3", stdin: Array((Self.password + "\n").utf8))
      #expect(outcome.status == 0, "\(outcome)")
      try sandbox.must(["backup", sandbox.root + "/copy"])
      try sandbox.stopDaemon()
      try start()
      try unlock()
      try sandbox.must(["verify"])
      try sandbox.must(["audit", "--verify"])
      try sandbox.must(["set", "new"], stdin: "value")
      #expect(try sandbox.must(["get", "item/7"]) == "value 7")

      let other = try Sandbox()
      defer { other.close() }
      try other.startDaemon(config: "idle = off")
      try other.must(["restore", "--password-stdin", sandbox.root + "/copy"], stdin: Self.password + "\n")
      try other.must(["unlock", "--password-stdin"], stdin: Self.password + "\n")
      try other.must(["verify"])
    }
  }

  /// A script that rekeys the vault while a child process of another user sends searches of 950 bytes over ten
  /// connections.
  private static let script =
    VarlinkScript.prelude + """
      import signal, subprocess
      ready, tell = os.pipe()
      child = os.fork() if sys.argv[3] == "flood" else None
      if child == 0:
          os.setgroups([])
          os.setgid(65534)
          os.setuid(65534)
          clients = [connect() for _ in range(10)]
          for client in clients: client.setblocking(False)
          number = 0
          while True:
              for client in clients:
                  number += 1
                  query = "name~" + str(number) + "x" * 940
                  message = {"method": "io.vaultd.Vault.Find", "parameters": {"query": query}}
                  try:
                      client.send(json.dumps(message).encode() + b"\\0")
                      while client.recv(65536): pass
                  except BlockingIOError: pass
              if number == 10: os.write(tell, b"x")
      if child: assert os.read(ready, 1), "the other user has ended"
      os.chmod(sys.argv[1], 0o600)
      os.chmod(os.path.dirname(sys.argv[1]), 0o700)
      command = [sys.argv[2], "--socket", sys.argv[1], "rekey", "--password-stdin"]
      done = subprocess.run(command, stdin=sys.stdin, timeout=300)
      if child:
          os.kill(child, signal.SIGKILL)
          os.waitpid(child, 0)
      sys.exit(done.returncode)
      """
}

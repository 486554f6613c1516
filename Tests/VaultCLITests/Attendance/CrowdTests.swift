import Foundation
import Testing
import VaultTesting

/// Programs that hold every connection of their user and open another for each that is closed, beside an agent that
/// comes anew, a lock, and a program that asks for an item. All of them belong to one user.
@Suite("An agent and a lock get through a crowd") struct CrowdTests {
  /// The ways in which a crowd keeps as many connections as there may be.
  enum Way: String, CaseIterable {
    /// One process holds all, each with a call that waits.
    case held
    /// Each is of a forked process, and has a call that waits.
    case forked
    /// One process holds all, and four others connect and close in a loop.
    case churning
    /// One process holds all, and each of them says that it is an agent.
    case pretending
  }

  /// The crowd: prints the number of connections opened so far for each line that it is sent, and ends with its input.
  private final class Crowd {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ way: Way, _ socket: String) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
      process.arguments = ["-u", "-c", Self.script, way.rawValue, socket]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      while try opened() < 256 {}
    }

    func opened() throws -> Int {
      try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
      let line = String(decoding: output.fileHandleForReading.readData(ofLength: 10), as: UTF8.self)
      return try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)), "\(line)")
    }

    /// Waits until the crowd has opened as many connections again as there may be, and as many once more.
    func goOn() throws {
      let goal = try opened() + 512
      try wait(for: "the crowd") { try opened() >= goal }
    }

    func end() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }

    private static let script = """
      import mmap, os, selectors, signal, socket, struct, sys
      way, path = sys.argv[1:]
      counts = mmap.mmap(-1, 8 * 300)
      def count(place): counts[8 * place:8 * place + 8] = struct.pack("=q", 1 + total(place, place + 1))
      def total(first=0, end=300): return sum(struct.unpack(f"={end - first}q", counts[8 * first:8 * end]))
      call = b'{"method":"io.vaultd.Vault.Monitor","more":true}\\0'
      if way == "pretending":
          call = b'{"method":"io.vaultd.Vault.Attend","more":true,"parameters":{"faces":["none"]}}\\0'
      def connect(place):
          client = socket.socket(socket.AF_UNIX)
          client.connect(path)
          count(place)
          return client
      def hold(place, most):
          selector = selectors.DefaultSelector()
          def add():
              client = connect(place)
              try: client.sendall(call)
              except OSError: pass
              selector.register(client, selectors.EVENT_READ)
          for _ in range(most): add()
          while True:
              for key, _ in selector.select():
                  try:
                      if key.fileobj.recv(1 << 16): continue
                  except OSError: pass
                  selector.unregister(key.fileobj)
                  key.fileobj.close()
                  add()
      def churn(place, _):
          while True: connect(place).close()
      children = []
      def fork(body, place, most=1):
          child = os.fork()
          if child == 0:
              os.close(0)
              try: body(place, most)
              finally: os._exit(1)
          children.append(child)
      if way == "forked":
          for place in range(256): fork(hold, place)
      else: fork(hold, 0, 256)
      if way == "churning":
          for place in range(1, 5): fork(churn, place)
      while sys.stdin.readline(): print(f"{total():9}")
      for child in children: os.kill(child, signal.SIGKILL)
      """
  }

  @Test("that comes anew and stays, hears what it is told, and a lock is done", arguments: Way.allCases)
  func crowd(_ way: Way) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.configure("pam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    let crowd = try Crowd(way, sandbox.socket)
    defer { crowd.end() }
    let terminal = try Terminal(sandbox, ["agent", "--faces", "terminal"])
    func attends() throws -> Bool {
      try sandbox.must(["status", "--json"]).contains("\"pid\":\(terminal.pid),")
    }
    try wait(for: "the agent") { try attends() }
    try crowd.goOn()
    #expect(try attends())
    try sandbox.must(["lock"])
    try terminal.expect("Vault: locked by `vault lock`")
    try crowd.goOn()
    let reader = Begun(sandbox, ["get", "web"])
    try terminal.expect("to unlock the vault")
    // The crowd drives out other waiting calls only where each of its processes has no more than they have.
    if way != .forked {
      try terminal.expect("Vault password")
      terminal.type(password)
      #expect(try reader.outcome().output == "hunter2")
    } else {
      _ = try reader.outcome()
    }
    // The agent was never cut off.
    #expect(try attends() && !terminal.screen.contains("trying again"))
    terminal.signal(SIGTERM)
    _ = try terminal.wait()
  }
}

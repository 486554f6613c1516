import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The client's process") struct HardeningTests {
  private static let nobody: uid_t = 65534

  /// Waits until the program on the terminal asks for a password, and returns the owner of its memory, its user, and
  /// its limit on core files.
  private func whileAsking(as identity: [String]) throws -> (owner: uid_t, uid: uid_t, limit: String) {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe chmod(sandbox.root, 0o755)
    if geteuid() == 0 { unsafe chown(sandbox.home, Self.nobody, Self.nobody) }
    // The client trusts the server only if the server runs as the same user.
    let socket = sandbox.home + "/socket"
    let prompt = try sandbox.write(
      #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"secret","method":"password","text":"Vault "#
        + #"password"}},"#
        + "\"continues\":true}\0", to: "prompt")
    let server = try Terminal(
      sandbox, identity + ["/usr/bin/socat", "-d", "-d", "UNIX-LISTEN:\(socket)", "SYSTEM:cat \(prompt); sleep 60"],
      program: "/usr/bin/setpriv")
    defer { server.signal(SIGKILL) }
    try server.expect("listening on")
    // Raise the limit first: many machines allow no core files anyway.
    let terminal = try Terminal(
      sandbox,
      ["--core=4096:", "/usr/bin/setpriv"] + identity + [Sandbox.path(of: "vault"), "unlock", "--socket", socket],
      program: "/usr/bin/prlimit")
    try terminal.expect("Vault password: ")
    var (memory, process) = (stat(), stat())
    #expect(unsafe lstat("/proc/\(terminal.pid)/mem", &memory) == 0)
    #expect(unsafe lstat("/proc/\(terminal.pid)", &process) == 0)
    let limits = try String(contentsOfFile: "/proc/\(terminal.pid)/limits", encoding: .utf8).split(separator: "\n")
    let limit = limits.first { $0.hasPrefix("Max core file size") }.map(String.init) ?? ""
    let status = try String(contentsOfFile: "/proc/\(terminal.pid)/status", encoding: .utf8).split(separator: "\n")
    let uid = status.first { $0.hasPrefix("Uid:") }?.split(separator: "\t").dropFirst().first.flatMap { uid_t($0) }
    terminal.control("d")
    try terminal.wait()
    return (memory.st_uid, try #require(uid), limit)
  }

  @Test("leaves no core file and is nobody's to look into while it holds a typed password")
  func guarded() throws {
    let nobody = ["--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups"]
    let identity = geteuid() == 0 ? nobody : ["--no-new-privs"]
    let found = try whileAsking(as: identity)
    // If a process must not be dumped, the kernel gives its files in /proc to root, and otherwise to its user.
    #expect(found.uid == (geteuid() == 0 ? Self.nobody : geteuid()) && found.owner == 0)
    #expect(found.limit.split(separator: " ").dropFirst(4).first == "0", "\(found.limit)")
  }

  @Test("the program that draws its codes is nobody's to look into, either")
  func drawing() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let pipe = sandbox.home + "/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    let end = unsafe open(pipe, O_RDWR | O_CLOEXEC)
    let nobody = ["--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups"]
    let terminal = try Terminal(
      sandbox, (geteuid() == 0 ? nobody : ["--no-new-privs"]) + [Sandbox.path(of: "vault-qr")],
      program: "/usr/bin/setpriv", stdin: pipe)
    // Once the program has read the text, its protection no longer changes.
    #expect(unsafe write(end, "text", 4) == 4)
    var held: Int32 = 1
    while unsafe held > 0 && ioctl(end, UInt(FIONREAD), &held) == 0 {}
    var memory = stat()
    #expect(unsafe lstat("/proc/\(terminal.pid)/mem", &memory) == 0 && memory.st_uid == 0)
    close(end)
    #expect(try terminal.wait() == 0)
  }

  @Test(
    "a helper program is nobody's to look into, before a secret comes",
    arguments: ["vault-rsa", "vault-pam", "vault-tpm2", "vault-keyring", "vault-import"])
  func helpers(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // Once the byte can no longer be read, the program has it and waits for the rest of the frame.
    let script = """
      import array, fcntl, os, resource, socket, subprocess, sys, termios
      if os.geteuid() == 0:
          os.setgroups([])
          os.setresgid(65534, 65534, 65534)
          os.setresuid(65534, 65534, 65534)
      own, its = socket.socketpair()
      program = subprocess.Popen([sys.argv[1]], stdin=its)
      own.sendall(b"{")
      left = array.array("i", [1])
      while left[0]: fcntl.ioctl(its, termios.FIONREAD, left)
      assert program.poll() is None, "it has ended"
      print(os.stat(f"/proc/{program.pid}/mem").st_uid, *resource.prlimit(program.pid, resource.RLIMIT_CORE))
      program.kill()
      """
    let outcome = try sandbox.run(["-c", script, Sandbox.path(of: name)], program: "/usr/bin/python3")
    #expect(outcome.output == "0 0 0\n", "\(outcome)")
  }

  @Test("its tools are started with the limit on core files that it was started with")
  func tools() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = """
      mkdir bin; printf '#!/bin/bash\\nulimit -S -c >%s/limit; exec cat >/dev/null\\n' "$HOME" >bin/xclip; chmod 755 \
      bin/xclip
      ulimit -S -c 0; ulimit -S -c 12; PATH=$HOME/bin:$PATH DISPLAY=:0 vault get web --clip
      """
    let outcome = try sandbox.run("-c", "cd; \(line)", program: "/bin/bash")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try String(contentsOfFile: sandbox.home + "/limit", encoding: .utf8) == "12\n")
  }

  @Test("has its own limit of none again while a tool runs, and behind it")
  func lowersItAgain() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // The tool's input ends once the program that started it has gone on.
    let line = """
      mkdir bin; printf '#!/bin/sh\\ncat >/dev/null; cat /proc/$PPID/limits >%s/limits\\n' "$HOME" >bin/xclip
      chmod 755 bin/xclip; ulimit -S -c 12; PATH=$HOME/bin:$PATH DISPLAY=:0 vault get web --clip
      """
    let outcome = try sandbox.run("-c", "cd; \(line)", program: "/bin/bash")
    #expect(outcome.status == 0, "\(outcome)")
    let limits = try String(contentsOfFile: sandbox.home + "/limits", encoding: .utf8).split(separator: "\n")
    let limit = try #require(limits.first { $0.hasPrefix("Max core file size") })
    #expect(limit.split(separator: " ").dropFirst(4).first == "0", "\(limit)")
  }
}

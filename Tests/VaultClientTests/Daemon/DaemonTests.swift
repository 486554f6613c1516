import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultClient

@Suite struct DaemonTests {
  private func start(_ script: String, within timeout: Duration = .seconds(60)) throws(ClientError) -> Int32 {
    var child = try StartingChild("/bin/sh", ["-c", script])
    return try child.waitUntilReady(Deadline(after: timeout))
  }

  @Test("A daemon that says it is ready goes on, in a session of its own")
  func starts() throws {
    let pid = try start("printf x >&3; exec 3>&-; exec sleep 1000")
    #expect(getsid(pid) == pid)
    #expect(kill(pid, SIGKILL) == 0)
    var status: Int32 = 0
    #expect(unsafe waitpid(pid, &status, 0) == pid)
  }

  @Test(
    "A daemon that ends instead says why",
    arguments: [
      ("echo 'vaultd: no' >&2; exit 78", Int32(78), "vaultd: no"), ("exit 0", 0, ""),
      ("echo out; echo err >&2; exit 1", 1, "out\nerr"), ("kill -9 $$", 137, ""), ("exec 3>&-; exit 5", 5, ""),
      ("read line || echo no input; exit 2", 2, "no input"),
    ])
  func reportsFailure(_ script: String, _ status: Int32, _ message: String) {
    #expect(clientError { _ = try start(script) } == .daemonFailed(status: status, message: message))
  }

  @Test("Only so much of what a failing daemon writes is kept, and all of it is read")
  func boundsOutput() {
    let error = clientError {
      _ = try start(
        "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done; exit 3")
    }
    guard case .daemonFailed(3, let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.utf8.count > 4000 && message.utf8.count <= 4096)
  }

  @Test("It inherits no descriptor but those that are meant for it")
  func inheritsNothing() throws {
    // A descriptor that stays open across exec, like the one of a script's lock.
    let foreign = unsafe open("/dev/null", O_RDONLY)
    defer { close(foreign) }
    let error = clientError { _ = try start("cd /proc/$$/fd && echo *; exit 3") }
    // The fifth descriptor is the directory that the shell lists.
    guard case .daemonFailed(3, let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.hasPrefix("0 1 2 3") && message.split(separator: " ").count <= 5, "\(message)")
  }

  @Test("Its environment says where things are, and nothing else")
  func environment() {
    let lines = DaemonEnvironment.lines(from: [
      "HOME=/h", "PATH=.", "LC_ALL=C", "XDG_RUNTIME_DIR=/r", "LD_PRELOAD=/x", "NOTIFY_SOCKET=@x", "HOMER=/x", "=", "A",
      "HOME", "DBUS_SESSION_BUS_ADDRESS=unix:path=/b", "LISTEN_FDS=1", "GLIBC_TUNABLES=x",
    ])
    #expect(
      lines == [
        DaemonEnvironment.path, "HOME=/h", "LC_ALL=C", "XDG_RUNTIME_DIR=/r",
        "DBUS_SESSION_BUS_ADDRESS=unix:path=/b",
      ])
  }

  @Test("It is told of the runtime directory that the client found, unless it has one")
  func environmentOfRuntime() {
    func line(_ all: [String]) -> [String] {
      DaemonEnvironment.lines(from: all, fallback: "/run/user/7").filter { $0.hasPrefix("XDG_") }
    }
    #expect(line([]) == ["XDG_RUNTIME_DIR=/run/user/7"])
    #expect(line(["XDG_RUNTIME_DIR=run"]) == ["XDG_RUNTIME_DIR=/run/user/7"])
    #expect(line(["XDG_RUNTIME_DIR=/r"]) == ["XDG_RUNTIME_DIR=/r"])
  }

  @Test("To start one leaves the own personality as it is, and what is started has an ordinary one")
  func personality() {
    let own = vault_personality()
    // 0x0040000 is ADDR_NO_RANDOMIZE, which setarch(1) sets; here for this thread only.
    let fixed = own | 0x004_0000
    _ = vault_set_personality(fixed)
    defer { _ = vault_set_personality(own) }
    #expect(
      clientError { _ = try start("cat /proc/$$/personality; exit 3") } == .daemonFailed(status: 3, message: "00000000")
    )
    #expect(vault_personality() == fixed)
  }

  @Test("Of what says where things are nothing is left out")
  func wholeEnvironment() {
    let all = [
      "HOME", "USER", "LOGNAME", "LANG", "LC_MESSAGES", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS",
      "DBUS_SYSTEM_BUS_ADDRESS", "SECRET_SERVICE_BUS_NAME",
    ].map { $0 + "=x" }
    #expect(DaemonEnvironment.lines(from: all, fallback: nil) == [DaemonEnvironment.path] + all)
  }

  @Test("A daemon that never gets ready is ended, and none of it is left")
  func endsTheSlow() throws {
    var child = try StartingChild("/bin/sh", ["-c", "exec sleep 1000"])
    let pid = child.pid
    var error: ClientError?
    do { _ = try child.waitUntilReady(Deadline(after: .milliseconds(50))) } catch let met { error = met }
    #expect(error == .timedOut)
    #expect(!ProcessTree.isThere(pid))
  }

  @Test("It gets its arguments behind the descriptor, and a program that is not there is an error")
  func passesArguments() {
    let echoed = clientError {
      _ = try Daemon.start(program: "/bin/echo", arguments: ["--socket", "/a b"], timeout: .seconds(60))
    }
    #expect(echoed == .daemonFailed(status: 0, message: "--ready-fd 3 --socket /a b"))
    let missing = clientError { _ = try Daemon.start(program: "/no/vaultd", arguments: [], timeout: .seconds(60)) }
    #expect(missing == .system("start /no/vaultd", errno: ENOENT))
  }

  @Test("Of the folders of PATH those alone are looked into that are named from the root on")
  func findsFromTheRoot() throws {
    let folder = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(FileManager.default.createFile(atPath: folder + "/vaultd", contents: nil))
    #expect(unsafe chmod(folder + "/vaultd", 0o700) == 0)
    let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
    let relative = String(repeating: "../", count: depth) + folder.dropFirst()
    #expect(unsafe access(relative + "/vaultd", X_OK) == 0)
    #expect(clientError { _ = try Daemon.find(on: relative) } == .system("vaultd", errno: ENOENT))
    #expect(try Daemon.find(on: "\(relative):/nowhere:\(folder)") == folder + "/vaultd")
    #expect(unsafe chmod(folder + "/vaultd", 0o600) == 0)
    #expect(clientError { _ = try Daemon.find(on: folder) } == .system("vaultd", errno: ENOENT))
    #expect(Daemon.barred(on: "\(relative):/nowhere:\(folder)") == folder + "/vaultd")
    #expect(Daemon.barred(on: "\(relative):/nowhere") == nil)
  }

  @Test("Where somebody listens, none is started; the system's never is")
  func startsOnlyWhereNeeded() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    try Daemon.ensure(at: server.location)
    let nowhere = SocketLocation(path: server.directory + "/none", trust: .system)
    #expect(clientError { try Daemon.ensure(at: nowhere) } == .noDaemon(nowhere.path))
    setMode(0o755, of: server.directory)
    #expect(isUnsafe(clientError { try Daemon.ensure(at: server.location) }))
  }
}

import Foundation
import Glibc
import Testing
import VaultProcess
import VaultTesting

@testable import VaultClient

@Suite struct LocationTests {
  private func location(
    _ explicit: String? = nil, _ environment: [String: String], fallback: String? = nil
  ) throws(ClientError) -> SocketLocation {
    try SocketLocation.user(
      explicit: explicit, environment: { environment[$0].map { Array($0.utf8) } }, fallback: { fallback })
  }

  @Test("The socket is the one named on the command line, else in VAULT_SOCKET, else the runtime directory's")
  func prefersTheNearest() throws {
    let environment = ["XDG_RUNTIME_DIR": "/run/user/1", "VAULT_SOCKET": "/tmp/a/socket"]
    #expect(try location("/b/s", environment) == SocketLocation(path: "/b/s", trust: .explicit))
    #expect(try location(nil, environment) == SocketLocation(path: "/tmp/a/socket", trust: .explicit))
    #expect(
      try location(nil, ["XDG_RUNTIME_DIR": "/run/user/1"])
        == SocketLocation(path: "/run/user/1/vault/socket", trust: .runtimeDirectory))
  }

  @Test("An empty path of the socket stands for no vault, and not for the user's own")
  func refusesEmpty() throws {
    let environment = ["XDG_RUNTIME_DIR": "/run/user/1", "VAULT_SOCKET": ""]
    #expect(throws: ClientError.emptySocketPath(variable: "VAULT_SOCKET")) { try location(nil, environment) }
    #expect(throws: ClientError.emptySocketPath(variable: nil)) { try location("", environment) }
    #expect(try location("/b/s", environment).path == "/b/s")
  }

  @Test(
    "Without a runtime directory there is no place for a socket",
    arguments: [
      [:], ["XDG_RUNTIME_DIR": ""],
    ])
  func needsRuntimeDirectory(_ environment: [String: String]) {
    #expect(throws: ClientError.noRuntimeDirectory) { try location(nil, environment) }
  }

  @Test("A relative runtime directory is named as what it is")
  func namesRelative() {
    #expect(throws: ClientError.relativeRuntimeDirectory("run/user/1")) {
      try location(nil, ["XDG_RUNTIME_DIR": "run/user/1"])
    }
  }

  @Test(
    "A place where no daemon can make all its sockets is told by its longest path",
    arguments: [(84, true), (85, false)])
  func tellsLongPaths(count: Int, isPossible: Bool) throws {
    // The longest socket path adds `/vault/credentials`, which is 18 bytes.
    let folder = "/" + String(repeating: "x", count: count + 4)
    let found = try location(nil, ["XDG_RUNTIME_DIR": folder])
    #expect((found.problem?.contains("bytes") == true) != isPossible, "\(found.problem ?? "")")
    #expect(SocketLocation.system.problem == nil)
  }

  @Test("A runtime directory that is not there is told, and a place that somebody named has advice of its own")
  func tellsMissing() throws {
    let missing = try location(nil, ["XDG_RUNTIME_DIR": "/missing/runtime"])
    #expect(missing.problem == "/missing/runtime, the runtime directory, is not there")
    #expect(missing.remedy.contains("XDG_RUNTIME_DIR"))
    #expect(try location(nil, ["XDG_RUNTIME_DIR": "/tmp"]).problem == nil)
    let file = try location(nil, ["XDG_RUNTIME_DIR": "/dev/null"])
    #expect(file.problem == "/dev/null, the runtime directory, is not a directory")
    #expect(throws: ClientError.impossibleSocket(file.problem ?? "", remedy: file.remedy)) {
      _ = try Connection(to: file, patience: .zero)
    }
    let named = try location("/missing/socket", [:])
    #expect(named.problem == nil && named.remedy.contains("VAULT_SOCKET"))
  }

  @Test(
    """
    Where no variable names the runtime directory it is the one that the login made, and never instead of one that \
    does
    """,
    arguments: [
      ([:], "/run/user/7"), (["XDG_RUNTIME_DIR": "run/user/1"], "/run/user/7"),
      (["XDG_RUNTIME_DIR": "/run/user/1"], "/run/user/1"),
    ])
  func fallsBack(_ environment: [String: String], _ directory: String) throws {
    #expect(
      try location(nil, environment, fallback: "/run/user/7")
        == SocketLocation(path: directory + "/vault/socket", trust: .runtimeDirectory))
  }

  @Test("A directory that others could have made, or can enter, is no runtime directory")
  func runtimeDirectory() throws {
    let parent = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: parent) }
    let path = "\(parent)/\(geteuid())"
    func found() -> String? { RuntimeDirectory.found(in: parent) }
    #expect(found() == nil)
    #expect(unsafe mkdir(path, 0o700) == 0)
    #expect(found() == path)
    for mode: mode_t in [0o755, 0o710, 0o701, 0o1700, 0o500] {
      #expect(unsafe chmod(path, mode) == 0)
      #expect(found() == nil, "mode \(String(mode, radix: 8))")
    }
    #expect(unsafe chmod(path, 0o700) == 0)
    if Root.isAtHand {
      #expect(unsafe chown(path, 1, 1) == 0)
      #expect(found() == nil)
      #expect(unsafe chown(path, geteuid(), getegid()) == 0)
    }
    #expect(unsafe rename(path, parent + "/elsewhere") == 0 && symlink(parent + "/elsewhere", path) == 0)
    #expect(found() == nil)
    #expect(unsafe unlink(path) == 0)
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(unsafe chmod(path, 0o700) == 0)
    #expect(found() == nil)
  }

  @Test("A variable that is not UTF-8 is an error where it is needed, and not the name of another socket")
  func needsText() throws {
    let bytes = Array("/run/user/1".utf8) + [0xFF]
    let unreadable = { (name: String) in
      { (asked: String) -> [UInt8]? in asked == name ? bytes : asked == "VAULT_SOCKET" ? nil : Array("/r".utf8) }
    }
    for name in ["VAULT_SOCKET", "XDG_RUNTIME_DIR"] {
      #expect(throws: ClientError.notUTF8(variable: name)) {
        try SocketLocation.user(explicit: nil, environment: unreadable(name), fallback: { nil })
      }
      #expect(try SocketLocation.user(explicit: "/a", environment: unreadable(name), fallback: { nil }).path == "/a")
    }
    #expect(throws: ClientError.notUTF8(variable: "PATH")) { try Variable.text("PATH", unreadable("PATH")) }
    #expect(try Variable.text("PATH") { _ in nil } == nil)
  }

  @Test("The process's own variables are read byte for byte")
  func ownVariables() throws {
    #expect(try Variable.text("PATH", Variable.own) == ProcessInfo.processInfo.environment["PATH"])
    #expect(Variable.own("VAULT_TEST_UNSET") == nil)
  }

  @Test("The system's vault is checked as such, also when its path is given")
  func knowsSystem() throws {
    #expect(try location("/run/vault/socket", [:]) == SocketLocation.system)
    #expect(try location(nil, ["VAULT_SOCKET": "/run/vault/socket"]) == SocketLocation.system)
    #expect(SocketLocation.system.trust == .system)
  }

  @Test(
    "A path falls into a directory and a name",
    arguments: [
      ("/run/vault/socket", "/run/vault", "socket"), ("socket", ".", "socket"), ("/socket", "/", "socket"),
      ("a/b", "a", "b"),
    ])
  func splits(_ path: String, _ directory: String, _ name: String) {
    let parts = SocketLocation(path: path, trust: .explicit).parts
    #expect(parts.directory == directory && parts.name == name)
  }
}

import Foundation
import Testing

@testable import VaultClient

@Suite struct LocationTests {
  private func location(_ explicit: String? = nil, _ environment: [String: String]) throws(ClientError)
    -> SocketLocation
  { try SocketLocation.user(explicit: explicit) { environment[$0].map { Array($0.utf8) } } }

  @Test("The socket is the one named on the command line, else in VAULT_SOCKET, else the runtime directory's")
  func prefersTheNearest() throws {
    let environment = ["XDG_RUNTIME_DIR": "/run/user/1", "VAULT_SOCKET": "/tmp/a/socket"]
    #expect(try location("/b/s", environment) == SocketLocation(path: "/b/s", trust: .explicit))
    #expect(try location(nil, environment) == SocketLocation(path: "/tmp/a/socket", trust: .explicit))
    #expect(
      try location(nil, ["XDG_RUNTIME_DIR": "/run/user/1", "VAULT_SOCKET": ""])
        == SocketLocation(path: "/run/user/1/vault/socket", trust: .runtimeDirectory))
  }

  @Test(
    "Without a runtime directory there is no place for a socket",
    arguments: [
      [:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "run/user/1"],
    ])
  func needsRuntimeDirectory(_ environment: [String: String]) {
    #expect(throws: ClientError.noRuntimeDirectory) { try location(nil, environment) }
  }

  @Test("A variable that is not UTF-8 is an error where it is needed, and not the name of another socket")
  func needsText() throws {
    let bytes = Array("/run/user/1".utf8) + [0xFF]
    let unreadable = { (name: String) in
      { (asked: String) -> [UInt8]? in asked == name ? bytes : asked == "VAULT_SOCKET" ? nil : Array("/r".utf8) }
    }
    for name in ["VAULT_SOCKET", "XDG_RUNTIME_DIR"] {
      #expect(throws: ClientError.notUTF8(variable: name)) {
        try SocketLocation.user(explicit: nil, environment: unreadable(name))
      }
      #expect(try SocketLocation.user(explicit: "/a", environment: unreadable(name)).path == "/a")
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

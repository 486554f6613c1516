import Testing
import VaultBytes
import VaultClient
import VaultTesting
import VaultWire

@testable import VaultCLI

/// An item whose details hold the user's name, and whose value is the password. Both change together.
@Suite("A user's name and password for another program") struct HelperItemsTests {
  private static let name = "docker/r"

  /// Plays a daemon with that item, which gets a new version after each reading of its details, up to a number of
  /// changes.
  private static func daemon(_ sandbox: Sandbox, changes: Int) throws -> ScriptedDaemon {
    try ScriptedDaemon(sandbox) { call, earlier in
      switch call.method {
      case "Show":
        let version = min(earlier, changes) + 1
        return [
          #"{"parameters":{"item":{"name":"docker/r","kind":"password","attributes":{"username":"user \#(version)"},"#
            + #""accessible":"when-unlocked","require":"none","reuse":60,"version":\#(version),"created":1,"#
            + #""modified":1,"size":10}}}"#
        ]
      case "Get":
        let version = min(earlier + 1, changes) + 1
        return [#"{"parameters":{"name":"docker/r","version":\#(version),"value":"password \#(version)"}}"#]
      default: return [#"{"error":"io.vaultd.Vault.NoVault"}"#]
      }
    }
  }

  private static func items(_ daemon: ScriptedDaemon) throws(Failure) -> HelperItems {
    let call = try HelperCall(DockerHelper.self, ["--socket", daemon.socket, "get"])
    return try HelperItems(call, for: "a test", mayAsk: false)
  }

  /// Returns the item and its value. With `isFound`, the details are read earlier, as by a search.
  private static func entry(_ items: HelperItems, isFound: Bool) throws(Failure) -> HelperItems.Entry? {
    guard isFound else { return try items.entry(name) }
    guard let found = try items.item(name) else { return nil }
    return try items.entry(of: found)
  }

  @Test("are of one version, also if the item changes while it is read", arguments: 0...2, [false, true])
  func sameVersion(changes: Int, isFound: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try Self.daemon(sandbox, changes: changes)
    defer { daemon.close() }
    guard let entry = try Self.entry(Self.items(daemon), isFound: isFound) else {
      Issue.record("there is no item")
      return
    }
    let version = changes + 1
    let (user, versions) = (entry.item.attributes["username"], [entry.item.version, entry.value.version])
    var password = SecretBuffer()
    password.append(utf8: "password \(version)")
    let isItsPassword = entry.value.bytes.isEqual(to: password)
    #expect(user == "user \(version)" && versions == [version, version] && isItsPassword)
  }

  @Test("are not given if the item changes during each of three readings") func changing() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try Self.daemon(sandbox, changes: 3)
    defer { daemon.close() }
    let items = try Self.items(daemon)
    var failure: Failure?
    do throws(Failure) { _ = try items.entry(Self.name) } catch { failure = error }
    #expect(failure?.exit == .retry)
    #expect(daemon.heard("Show") == 3 && daemon.heard("Get") == 3)
  }
}

import Synchronization
import Testing
import VaultClient
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

/// The receipts of a watcher, and a daemon that refuses some of them.
@Suite("The receipts that a watcher must still send") struct ReceiptsTests {
  /// A daemon that accepts every receipt but those for the item `a`, which it refuses until the test lets it accept
  /// them.
  private final class Scene: Sendable {
    private let state = Mutex<(heard: [String], refuses: Bool)>(([], true))

    func accept() { state.withLock { $0.refuses = false } }

    /// Returns the receipts that were heard since the last call, in order: of each the item's name and the version.
    func heard() -> [String] {
      state.withLock { state in
        defer { state.heard = [] }
        return state.heard
      }
    }

    /// Starts the daemon.
    ///
    /// - Parameter refusal: the end of an error's message, behind the name of the interface.
    func daemon(_ sandbox: Sandbox, _ refusal: String) throws -> ScriptedDaemon {
      try ScriptedDaemon(sandbox) { call, _ in
        let name = call.parameters["name"] as? String ?? ""
        let version = call.parameters["version"] as? Int ?? 0
        let isRefused = self.state.withLock { state in
          state.heard.append("\(name) \(version)")
          return state.refuses && name == "a"
        }
        return [isRefused ? #"{"error":"\#(refusal)}"# : #"{"parameters":{}}"#]
      }
    }
  }

  private let a, b: ItemName

  init() throws {
    a = try ItemName("a")
    b = try ItemName("b")
  }

  /// Makes the receipts of a watcher of both items.
  private func receipts(at socket: String) throws -> Receipts {
    try Receipts(Vault(at: SocketLocation.user(explicit: socket)), WatchedItems(["a", "b"]))
  }

  @Test(
    "one that cannot be stored now is sent again until it is, with the last version, and delays no other",
    arguments: [
      #"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"by `vault lock`"}"#,
      #"io.vaultd.Vault.Busy","parameters":{"reason":"the key is being replaced"}"#,
      #"io.vaultd.Vault.StorageFailed","parameters":{"reason":"the disk is full"}"#,
    ])
  func kept(refusal: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let scene = Scene()
    let daemon = try scene.daemon(sandbox, refusal)
    defer { daemon.close() }
    var receipts = try receipts(at: daemon.socket)
    receipts.add(.ended(.exit(0)), of: [a: 1, b: 1])
    #expect(scene.heard().sorted() == ["a 1", "b 1"])
    receipts.send()
    #expect(scene.heard() == ["a 1"])
    receipts.add(.ended(.exit(1)), of: [a: 2])
    #expect(scene.heard() == ["a 2"])
    scene.accept()
    receipts.send()
    #expect(scene.heard() == ["a 2"])
    receipts.send()
    #expect(scene.heard() == [])
  }

  @Test(
    "one that is refused for good is not sent again, and the next version has its own",
    arguments: [
      #"io.vaultd.Vault.NoSuchItem","parameters":{"name":"a"}"#,
      #"io.vaultd.Vault.Denied","parameters":{"reason":"you may not do this"}"#,
      #"org.varlink.service.InvalidParameter","parameters":{"parameter":"version"}"#,
    ])
  func refused(refusal: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let scene = Scene()
    let daemon = try scene.daemon(sandbox, refusal)
    defer { daemon.close() }
    var receipts = try receipts(at: daemon.socket)
    receipts.add(.ended(.exit(0)), of: [a: 1])
    receipts.send()
    #expect(scene.heard() == ["a 1"])
    receipts.add(.ended(.exit(0)), of: [a: 2])
    #expect(scene.heard() == ["a 2"])
  }

  @Test(
    "one that waits is dropped once its name may have another item, and stays after an update",
    arguments: ["created", "deleted", "moved", "updated", nil])
  func another(change: String?) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let scene = Scene()
    let daemon = try scene.daemon(
      sandbox, #"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"by `vault lock`"}"#)
    defer { daemon.close() }
    var receipts = try receipts(at: daemon.socket)
    receipts.add(.ended(.exit(0)), of: [a: 1])
    #expect(scene.heard() == ["a 1"])
    var names = ChangedNames()
    names.add(
      change.map {
        Vault.Event(event: "item", time: 1, name: $0 == "moved" ? "x" : "a", change: $0, to: $0 == "moved" ? "a" : nil)
      }
        ?? Vault.Event(event: "state", time: 1, state: "unlocked", missed: true))
    // A queue of changes keeps only the last one of a name.
    names.add(Vault.Event(event: "item", time: 2, name: "a", change: "updated", version: 2))
    receipts.heard(names, upTo: "0123456789abcdef")
    scene.accept()
    receipts.send()
    #expect(scene.heard() == (change == "updated" ? ["a 1"] : []))
  }

  @Test("a run says nothing about an item that took the name of its own meanwhile") func during() throws {
    var versions = RunVersions(began: 1)
    (versions.known, versions.unknown, versions.isOfAny, versions.lacksSome) = ([a: 2], [b], true, true)
    var names = ChangedNames()
    for name in ["a", "b"] { names.add(Vault.Event(event: "item", time: 1, name: name, change: "created", version: 1)) }
    versions.drop(names)
    #expect(versions.known.isEmpty && versions.unknown.isEmpty && versions.lacksSome)
    var late = LateReceipts()
    late.add(.ended(.exit(0)), of: versions)
    let other = try ItemName("other")
    #expect(!late.concernsOthers(a) && !late.concernsOthers(b) && late.concernsOthers(other))
  }

  @Test("the daemon learns up to which event the watcher has heard, unless it is an earlier one") func since() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let cursors = Mutex<[String]>([])
    let daemon = try ScriptedDaemon(sandbox) { call, _ in
      let since = call.parameters["since"] as? String
      cursors.withLock { $0.append(since ?? "-") }
      let isUnknown = since == "0000000000000002"
      return [
        isUnknown
          ? #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"since"}}"#
          : #"{"parameters":{}}"#
      ]
    }
    defer { daemon.close() }
    var receipts = try receipts(at: daemon.socket)
    receipts.add(.ended(.exit(0)), of: [a: 1])
    receipts.heard(ChangedNames(), upTo: "0000000000000001")
    receipts.heard(ChangedNames(), upTo: nil)
    receipts.add(.ended(.exit(0)), of: [a: 2])
    receipts.heard(ChangedNames(), upTo: "0000000000000002")
    receipts.add(.ended(.exit(0)), of: [a: 3])
    #expect(cursors.withLock { $0 } == ["-", "0000000000000001", "0000000000000002", "-"])
  }

  @Test("all are kept while there is no daemon, and the next one has them") func nobody() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let scene = Scene()
    scene.accept()
    var receipts = try receipts(at: sandbox.home + "/socket")
    receipts.add(.ended(.exit(0)), of: [a: 1, b: 1])
    let daemon = try scene.daemon(sandbox, "")
    defer { daemon.close() }
    try #require(daemon.socket == sandbox.home + "/socket")
    receipts.send()
    #expect(scene.heard().sorted() == ["a 1", "b 1"])
    receipts.send()
    #expect(scene.heard() == [])
  }
}

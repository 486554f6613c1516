import Glibc
import Synchronization
import Testing
import VaultClient
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

/// The receipts for items that could not be looked up when a watcher's command began.
@Suite("The receipt for a version that was not known when its run began") struct LateReceiptsTests {
  /// A daemon that has the items `a` and `b` in version 3, and at first looks nothing up.
  private final class Scene: Sendable {
    private let state = Mutex<(receipts: [String], answers: Bool)>(([], false))
    /// The time at which the version was stored, in Unix seconds.
    let modified: Int

    init(modified: Int) { self.modified = modified }

    func answer() { state.withLock { $0.answers = true } }

    /// Returns the receipts that were heard so far, sorted.
    var receipts: [String] { state.withLock { $0.receipts.sorted() } }

    func daemon(_ sandbox: Sandbox, _ refusal: String) throws -> ScriptedDaemon {
      try ScriptedDaemon(sandbox) { call, _ in
        let name = call.parameters["name"] as? String ?? ""
        return self.state.withLock { state in
          if call.method == "Receipt" {
            let isDone = call.parameters["succeeded"] as? Bool ?? false
            state.receipts.append("\(name) \(call.parameters["version"] as? Int ?? 0) \(isDone)")
            return [#"{"parameters":{}}"#]
          }
          guard state.answers else { return [#"{"error":"\#(refusal)}"#] }
          return [
            call.method == "Show"
              ? #"{"parameters":{"item":\#(self.item(name))}}"#
              : #"{"parameters":{"items":[\#(self.item("a")),\#(self.item("b"))]}}"#
          ]
        }
      }
    }

    private func item(_ name: String) -> String {
      #"{"name":"\#(name)","kind":"secret","attributes":{},"accessible":"when-unlocked","require":"none","reuse":0,"#
        + #""version":3,"created":1,"modified":\#(modified),"size":1}"#
    }
  }

  private static let busy = #"io.vaultd.Vault.Busy","parameters":{"reason":"the key is being replaced"}"#
  private static let locked = #"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"by `vault lock`"}"#
  private static let denied = #"io.vaultd.Vault.Denied","parameters":{"reason":"you may not do this"}"#
  private static let move = Vault.Event(event: "item", time: 1, name: "x", change: "moved", to: "a")
  private static let missed = Vault.Event(event: "state", time: 1, state: "unlocked", missed: true)

  /// Ends a run that was told of `events`, whose items could not be looked up.
  private func run(
    _ scene: Scene, refusal: String = busy, _ events: [Vault.Event], then: (inout Receipts) throws -> Void
  ) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try scene.daemon(sandbox, refusal)
    defer { daemon.close() }
    var receipts = try Receipts(Vault(at: SocketLocation.user(explicit: daemon.socket)), WatchedItems([]))
    receipts.add(.ended(.exit(0)), of: receipts.versions(of: events))
    #expect(scene.receipts == [])
    try then(&receipts)
  }

  @Test("comes once the item can be looked up", arguments: [busy, locked]) func later(refusal: String) throws {
    let scene = Scene(modified: 1)
    try run(scene, refusal: refusal, [Self.move]) { receipts in
      #expect((receipts.due != nil) == (refusal == Self.busy))
      receipts.send()
      #expect(scene.receipts == [])
      scene.answer()
      receipts.send()
      #expect(scene.receipts == ["a 3 true"] && receipts.due == nil)
      receipts.send()
      #expect(scene.receipts == ["a 3 true"])
    }
  }

  @Test("comes for all items when any may have changed, except those that had a run since") func any() throws {
    let scene = Scene(modified: 1)
    try run(scene, [Self.missed]) { receipts in
      scene.answer()
      receipts.add(.ended(.exit(1)), of: receipts.versions(of: [Self.move]))
      #expect(scene.receipts == ["a 3 false", "b 3 true"])
    }
  }

  @Test("does not come for a version that was stored after the run began") func stored() throws {
    let scene = Scene(modified: Int(time(nil)) + 60)
    try run(scene, [Self.move]) { receipts in
      scene.answer()
      receipts.send()
      #expect(scene.receipts == [] && receipts.due == nil)
    }
  }

  @Test("does not come after a change, which has a run of its own", arguments: [[move], [missed]])
  func changed(events: [Vault.Event]) throws {
    let scene = Scene(modified: 1)
    try run(scene, [Self.move]) { receipts in
      for event in events { receipts.drop(event) }
      scene.answer()
      receipts.send()
      #expect(scene.receipts == [])
    }
  }

  @Test("does not come for an item that the caller may not see, and nothing waits for it") func denied() throws {
    let scene = Scene(modified: 1)
    try run(scene, refusal: Self.denied, [Self.move]) { receipts in
      #expect(receipts.due == nil)
      scene.answer()
      receipts.send()
      #expect(scene.receipts == [])
    }
  }
}

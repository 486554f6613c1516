import Foundation
import Testing
import VaultTesting

@Suite(
  "Keys in the daemon's memory",
  .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct KeysInMemoryTests {
  @Test(
    "of all keys that the store and its secrets give, those are in memory that vault-security(7) says, after",
    arguments: KeyScene.all)
  func held(scene: KeyScene) throws {
    let stage = try KeyStage(scene.settings, scene.place)
    try scene.play(stage)
    try stage.expect(scene.held, typed: scene.holdsPassword, scene.name)
  }

  @Test("the search finds every key of the hierarchy where it is in memory, and none when its place was wiped")
  func control() throws {
    let stage = try KeyStage("", .keystore("memory"))
    try stage.unlock()
    try stage.addPresence()
    try stage.addLogin()
    try stage.fill(3000)
    try stage.add(backup: stage.sandbox.client().backup().bytes)
    let begun = try stage.beginRekey { $0.contains("Login password") ? stage.login : stage.password }
    try stage.lock()
    try stage.computeKeys(recovery: begun.code)
    let names = Set(stage.keys.keys.keys)
    // The names of all keys of the live vault and of a running rekey's new store; a key of a new kind must be added
    // here.
    #expect(names == Self.everyKey, "\(names.symmetricDifference(Self.everyKey).sorted())")

    let locked = Held.locked + ["presence key 3"]
    #expect(try stage.found() == Set(locked))
    // The beginning of a frame that never ends lies in a buffer unchanged.
    var client = try stage.sandbox.client()
    client.send(Self.frame(of: stage.keys.keys))
    var found = try stage.found()
    // The daemon may not have read the frame yet or, if a search takes long, may have given up waiting for its end.
    for _ in 0..<10 where found != names {
      client = try stage.sandbox.client()
      client.send(Self.frame(of: stage.keys.keys))
      found = try stage.found()
    }
    #expect(found == names, "\(found.symmetricDifference(names).sorted())")
    // When the connection ends, its buffer is wiped.
    client.finishSending()
    while try client.receiveBytes() != nil {}
    try stage.awaitKeys(locked)
  }

  /// Makes a frame from 8 bytes of each key, chosen without the NUL that would end the frame.
  private static func frame(of keys: [String: [UInt8]]) -> [UInt8] {
    keys.values.flatMap { key in
      stride(from: 0, to: key.count, by: 8).map { Array(key[$0..<($0 + 8)]) }.first { !$0.contains(0) } ?? []
    }
  }

  private static let classes = ["when-unlocked", "after-first-unlock", "always"]
  /// The keys of ``control()`` that are derived from a slot's secret.
  private static let ofSlots: [String] = (1...4).flatMap { ["root of slot \($0)", "key of slot \($0)"] }
  private static let wrapping: [String] = ["vault", "next vault"].map { "wrapping key of " + $0 }

  /// The names of all keys of a vault with a slot of each kind, during a rekey, and of its backup.
  private static let everyKey: Set<String> = {
    let subkeys = [
      "values", "metadata", "tags", "grants", "integrity", "audit", "backup", "box", "deposits", "cursors",
      "session",
    ]
    var live: [String] = ofSlots + wrapping + classes + ["vault", "presence key 3"]
    for name in classes { live += subkeys.map { "\(name) \($0)" } }
    let others = ["boot", "wrapping key of boot", "stream of the backup", "pieces of the backup"]
    return Set(live).union(live.map { "next " + $0 }).union(others)
  }()

  @Test("every key that is ever kept beyond a call is in memory in some scene, and found there") func seen() {
    let seen = Set(KeyScene.all.flatMap(\.held))
    let unseen = Self.everyKey.subtracting(seen).filter { !$0.hasPrefix("next ") }
    // Only keys that a call makes, uses and wipes appear in no scene; the test above finds those where it puts them.
    var transient = Set(Self.ofSlots + Self.wrapping + Self.classes + ["wrapping key of boot", "stream of the backup"])
    transient.formUnion(["when-unlocked backup", "always backup", "after-first-unlock audit"])
    transient.formUnion(["after-first-unlock box", "always box"])
    transient.formUnion(["when-unlocked cursors", "after-first-unlock cursors"])
    transient.formUnion(["when-unlocked session", "always session"])
    #expect(unseen == transient, "\(unseen.symmetricDifference(transient).sorted())")
  }
}

import CSQLite
import Foundation
import Testing
import VaultStore
import VaultTesting

/// What a file of some pages says that it has: rows as long as memory is, and tables that SQLite would take hours to read.
/// SQLite believes all of that before any of this program looks at a row. Held against the real daemon, since it is the whole
/// process that has to stay small.
@Suite("What a store's file claims to have") struct ClaimTests {
  private let password = "correct horse battery"

  /// The store of a vault with one item, whose daemon has ended.
  private func store() throws -> Sandbox {
    let sandbox = try Sandbox()
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "1"]).error == nil)
    try sandbox.stopDaemon()
    return sandbox
  }

  /// The most memory that the daemon has had, in bytes.
  private func peak(_ sandbox: Sandbox) throws -> Int {
    try ProcessMemory.bytes("VmHWM", of: #require(sandbox.daemonPid))
  }

  /// Has the daemon do what makes it look at each table, and answers the errors.
  private func use(_ sandbox: Sandbox) throws -> [String?] {
    try sandbox.startDaemon()
    var errors: [String?] = []
    for _ in 0..<3 { #expect(try sandbox.client().call("Status").error == nil) }
    errors.append(try sandbox.unlock(password)?.error)
    for (method, parameters) in [
      ("Get", ["name": "a"]), ("Get", ["name": "a", "version": 1]), ("Set", ["name": "b", "value": "2"]), ("Find", [:]),
    ] as [(String, WireClient.Message)] {
      errors.append(try sandbox.client().call(method, parameters).error)
    }
    let check = try sandbox.client()
    var reply = try check.call("Verify", more: true)
    while reply.continues { reply = try check.reply() }
    errors.append(reply.error)
    return errors
  }

  /// An entry of a tree that is `size` bytes long and comes before all others, of which the rest is on that page.
  private func cell(_ tree: String, size: Int, rest: Int) -> [UInt8] {
    // The header: its own length, then the type of each column, of which one is as long as all the rest.
    let types: [[UInt8]]
    let start: [UInt8]
    switch tree {
    case "tags": (types, start) = ([PageForge.varint(Int64(2 * (size - 10) + 12)), [1], [1]], [])
    case "sqlite_autoindex_vals_1": (types, start) = ([[1], PageForge.varint(Int64(2 * (size - 10) + 12)), [1]], [0])
    default: (types, start) = ([[13 + 2 * 3], PageForge.varint(Int64(2 * (size - 10) + 12))], Array("aaa".utf8))
    }
    let header = types.reduce([]) { $0 + $1 }
    var payload = [UInt8(header.count + 1)] + header + start
    payload += [UInt8](repeating: 0, count: 489 - payload.count)
    return PageForge.varint(Int64(size)) + payload + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rest >> $0) }
  }

  /// Puts a key as long as memory, whose pages lead in a circle, before all others of a tree. Nobody has the store open.
  private func putLongKey(in tree: String, of store: String) throws {
    // So long that what a page of the tree has of it is the least there can be.
    let size = 489 + 4092 * 100_000
    var forge = try PageForge(store)
    let root = try forge.root(tree)
    let rest = forge.emptyPage()
    forge.put(rest, at: PageForge.offset(rest), bytes: 4)
    forge.leaf([.init(bytes: cell(tree, size: size, rest: rest))] + forge.cells(root), isTable: false, on: root)
    try forge.write(pages: size / 4096 + 10)
  }

  @Test(
    "a key as long as memory, whose pages lead in a circle, is damage wherever it is met",
    arguments: ["meta", "keys", "tags", "sqlite_autoindex_vals_1"])
  func longKey(tree: String) throws {
    let sandbox = try store()
    defer { sandbox.close() }
    try putLongKey(in: tree, of: sandbox.store)
    let errors = try use(sandbox)
    #expect(errors.contains("Corrupt"), "\(errors)")
    #expect(try Sanitizer.isPresent || peak(sandbox) < 128 << 20)
  }

  @Test("memory that runs out after a key was as long as memory is no damage")
  func noMemory() throws {
    let claiming = try Fixture()
    try putLongKey(in: "keys", of: claiming.directory)
    expectCorrupt { _ = try claiming.unlocked() }
    // The same thread has another store open.
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let keychain = try fixture.unlocked()
    disk.fail(after: 0, .init(code: SQLITE_NOMEM, number: ENOMEM, text: "out of memory"))
    expect(\.isStorage) { try keychain.put("a") }
    disk.recover()
    try keychain.put("a")
    #expect(keychain.integrity != .failed)
  }

  @Test(
    "tables that are not ours, few and long or many and short, are refused unread",
    arguments: [(10, 400_000), (1100, 4000), (10_000, 400), (5000, 0)])
  func tables(count: Int, words: Int) throws {
    let sandbox = try store()
    defer { sandbox.close() }
    let list = "replace(hex(zeroblob(\(words))), '00', '1,') || '1'"
    // As text: nobody has to read it to put it in.
    try sandbox.editStore(
      "PRAGMA writable_schema = ON",
      """
      WITH number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
      INSERT INTO sqlite_schema SELECT 'table', 't' || n, 't' || n, (SELECT rootpage FROM sqlite_schema WHERE name = 'meta'),
        'CREATE TABLE t' || n || '(a CHECK(a IN (' || \(list) || ')))' FROM number
      """)
    let errors = try use(sandbox)
    #expect(errors.allSatisfy { $0 == "Corrupt" }, "\(errors)")
    #expect(try Sanitizer.isPresent || peak(sandbox) < 64 << 20)
  }
}

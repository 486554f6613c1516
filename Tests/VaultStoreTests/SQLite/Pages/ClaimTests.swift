import Foundation
import Testing
import VaultStore
import VaultTesting

/// False claims in a file of a few pages: rows as long as the whole memory, and tables that SQLite would take hours to
/// read. SQLite believes these claims before this program sees a row. The tests use the real daemon, because the whole
/// process must stay small.
@Suite("What a store's file claims to have") struct ClaimTests {
  private let password = "correct horse battery"

  /// Makes the store of a vault with one item, whose daemon has ended.
  private func store() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    for value in ["1", "2", "3", "4"] {
      #expect(try sandbox.client().call("Set", ["name": "a", "value": value, "update": true]).error == nil)
    }
    try sandbox.stopDaemon()
    return sandbox
  }

  /// Returns the daemon's peak memory in bytes.
  private func peak(_ sandbox: Sandbox) throws -> Int {
    try ProcessMemory.bytes("VmHWM", of: #require(sandbox.daemonPid))
  }

  /// Makes the daemon read each table, and returns its errors.
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

  /// Makes an entry of a tree that claims `size` bytes and comes before all others; the page `rest` holds the entry's
  /// remainder.
  private func cell(_ tree: String, size: Int, rest: Int) -> [UInt8] {
    // The header has its own length, then the type of each column; one column takes all the rest.
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

  /// The place of a key that is inserted into a tree.
  enum Place: CaseIterable {
    /// Before all others, where every search meets the key.
    case first
    /// Behind all others, where a walk that began earlier meets the key.
    case last
    /// Behind all others, in a log beside the file.
    case lastInLog
  }

  /// Inserts into a tree a key as long as memory, whose pages lead in a circle. No process has the store open.
  ///
  /// - Parameter size: a length of which a page of the tree holds the smallest possible part.
  private func putLongKey(in tree: String, of store: String, size: Int, _ place: Place) throws {
    var forge = try PageForge(store)
    let root = try forge.root(tree)
    let rest = forge.emptyPage()
    let pages = size / 4096 + 10
    if place == .lastInLog { try forge.write(pages: pages) }
    forge.put(rest, at: PageForge.offset(rest), bytes: 4)
    var cells = forge.cells(root)
    cells.insert(.init(bytes: cell(tree, size: size, rest: rest)), at: place == .first ? 0 : cells.count)
    forge.leaf(cells, isTable: false, on: root)
    if place == .lastInLog {
      try forge.writeLog([root, rest], count: pages)
    } else {
      try forge.write(pages: pages)
    }
  }

  @Test(
    "a key as long as memory, whose pages lead in a circle, is damage wherever it is met",
    arguments: [
      ("meta", .first, 489 + 4092 * 100_000), ("keys", .first, 489 + 4092 * 100_000), ("keys", .first, Int(Int32.max)),
      ("tags", .first, 489 + 4092 * 100_000), ("tags", .last, Int(Int32.max)), ("vals", .first, Int(Int32.max)),
      ("vals", .last, 489 + 4092 * 100_000), ("vals", .last, Int(Int32.max)), ("vals", .last, Int(UInt32.max)),
      ("vals", .lastInLog, Int(Int32.max)),
    ] as [(String, Place, Int)])
  func longKey(table: String, place: Place, size: Int) throws {
    let sandbox = try store()
    defer { sandbox.close() }
    let tree = table == "vals" ? "sqlite_autoindex_vals_1" : table
    try putLongKey(in: tree, of: sandbox.store, size: size, place)
    let errors = try use(sandbox)
    #expect(errors.contains("Corrupt"), "\(errors)")
    #expect(try Sanitizer.isPresent || peak(sandbox) < 128 << 20)
  }

  @Test(
    "memory that the system does not have is no damage, and what is read when it has some again is right",
    .enabled(if: !Sanitizer.isPresent, "a sanitizer has a heap of its own"))
  func noMemory() throws {
    let sandbox = try store()
    defer { sandbox.close() }
    let (library, shortage) = (sandbox.root + "/shortage.so", sandbox.root + "/shortage")
    try sandbox.compileLibrary(Self.shortage(shortage), to: library)
    try sandbox.startDaemon(environment: ["LD_PRELOAD": library])
    #expect(try sandbox.unlock(password)?.error == nil)
    let value = String(repeating: "long", count: 200_000)
    #expect(try sandbox.client().call("Set", ["name": "long", "value": value]).error == nil)
    // After a lock, the next read comes from the file.
    #expect(try sandbox.client().call("Lock").error == nil)
    #expect(try sandbox.unlock(password)?.error == nil)
    #expect(FileManager.default.createFile(atPath: shortage, contents: nil))
    let refused = try sandbox.client().call("Get", ["name": "long"])
    #expect(
      refused.error == "StorageFailed" && refused.string("reason")?.contains("out of memory") == true, "\(refused)")
    try FileManager.default.removeItem(atPath: shortage)
    #expect(try sandbox.client().call("Get", ["name": "long"]).string("value") == value)
    #expect(try sandbox.client().call("Set", ["name": "b", "value": "2"]).error == nil)
  }

  /// The source of a library that refuses SQLite any large allocation while the file exists.
  private static func shortage(_ file: String) -> String {
    """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    void *__libc_malloc(size_t);
    void *malloc(size_t count) {
      Dl_info caller;
      if (count > 500000 && access("\(file)", F_OK) == 0 && dladdr(__builtin_return_address(0), &caller) &&
          strstr(caller.dli_fname, "libsqlite3"))
        return NULL;
      return __libc_malloc(count);
    }
    """
  }

  @Test(
    "tables that are not ours, few and long or many and short, are refused unread",
    arguments: [(10, 400_000), (1100, 4000), (10_000, 400), (5000, 0)])
  func tables(count: Int, words: Int) throws {
    let sandbox = try store()
    defer { sandbox.close() }
    let list = "replace(hex(zeroblob(\(words))), '00', '1,') || '1'"
    // Rows of text, because SQLite stores them without parsing them as statements.
    try sandbox.editStore(
      "PRAGMA writable_schema = ON",
      """
      WITH number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
      INSERT INTO sqlite_schema SELECT 'table', 't' || n, 't' || n, (SELECT rootpage FROM sqlite_schema WHERE name = \
      'meta'),
        'CREATE TABLE t' || n || '(a CHECK(a IN (' || \(list) || ')))' FROM number
      """)
    let errors = try use(sandbox)
    #expect(errors.allSatisfy { $0 == "Corrupt" }, "\(errors)")
    #expect(try Sanitizer.isPresent || peak(sandbox) < 64 << 20)
  }
}

import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// Power cuts at any moment: everything acknowledged survives, and the store is whole.
@Suite struct PowerCutTests {
  /// The expected names and values.
  private typealias Content = [String: String]

  /// Changes a store in every way, and records the operation of the disk after which each change was acknowledged.
  ///
  /// - Parameter defers: true to write to the audit log between the changes, without waiting for the disk.
  private func work(
    _ keychain: Keychain, _ disk: FaultyDisk, defers: Bool = false
  ) throws -> [(acknowledged: Int, content: Content)] {
    var content: Content = [:]
    var steps = [(acknowledged: disk.count, content: content)]
    func done() { steps.append((disk.count, content)) }
    for round in 0..<6 {
      if defers { try AuditStoreTests.write(8, to: keychain, isSynced: false) }
      if defers { done() }
      let text = "item \(round)"
      try keychain.put(text, "first", attributes: ["round": "\(round)"])
      content[text] = "first"
      done()
      let long = String(repeating: "\(round)", count: 9000)
      try keychain.put(text, long, update: true)
      content[text] = long
      done()
      if round % 2 == 1 {
        try keychain.delete([name("item \(round - 1)")])
        content["item \(round - 1)"] = nil
        done()
        try keychain.move(from: name(text), to: name("moved \(round)"), now: 3000)
        content["moved \(round)"] = content.removeValue(forKey: text)
        done()
      }
    }
    return steps
  }

  /// Does the work, cuts the power before and after every sync, each time with every kind of luck, and returns the
  /// losses.
  ///
  /// - Parameters:
  ///   - synchronous: a setting of SQLite to use instead of the store's own.
  ///   - defers: true to write in between without waiting for the disk.
  private func losses(synchronous: String? = nil, defers: Bool = false) throws -> [String] {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let steps: [(acknowledged: Int, content: Content)]
    do {
      let keychain = try fixture.unlocked()
      if let synchronous { try keychain.database.connection.execute("PRAGMA synchronous = \(synchronous)") }
      // A log this short is folded in, and begun anew, several times.
      keychain.database.connection.longLog = 12
      steps = try work(keychain, disk, defers: defers)
    }
    let events = disk.events()
    #expect(events.contains { $0.file == "vault.db" && $0.kind == .write }, "the log was never folded in")
    // Without syncs, the moments of acknowledgement are the boundaries.
    var cuts = Set(steps.map(\.acknowledged))
    for (index, event) in events.enumerated() where event.kind == .sync { cuts.formUnion([index, index + 1]) }
    var losses: [String] = []
    for cut in cuts.sorted() {
      for luck in FaultyDisk.Luck.allCases {
        let files = disk.files(events, cutAfter: cut, luck)
        // The change in progress may be there or not.
        let known = steps.lastIndex { $0.acknowledged <= cut } ?? 0
        let allowed = steps[known...].prefix(2).map(\.content)
        if let loss = try loss(files, fixture, allowed) { losses.append("cut after \(cut), \(luck): \(loss)") }
      }
    }
    return losses
  }

  /// Returns the fault in the files after a cut; nil if there is none.
  private func loss(_ files: [String: Data], _ fixture: Fixture, _ allowed: [Content]) throws -> String? {
    let copy = try FileCopy(files)
    do {
      let keychain = try Keychain(opening: copy.directory)
      try keychain.unlock(vaultKey: fixture.vaultKey)
      let names = try keychain.names("")
      var found: Content = [:]
      for text in names { found[text] = try keychain.text(text) }
      guard allowed.contains(found) else { return "\(found.keys.sorted()) instead of \(allowed[0].keys.sorted())" }
      let result = try keychain.verify()
      return result.isOK ? nil : "\(result.findings.map(\.text))"
    } catch {
      return "\(error)"
    }
  }

  @Test("nothing that was acknowledged is lost, wherever the power is cut")
  func survives() throws { #expect(try losses() == []) }

  @Test("the same test finds losses when nothing is synced")
  func control() throws { #expect(try losses(synchronous: "OFF").count > 20) }

  @Test("a write that is not waited for costs nothing that was acknowledged, wherever the power is cut")
  func deferred() throws { #expect(try losses(defers: true) == []) }

  /// A long change is cut off, and then a short one. The log has frames of both, and neither was acknowledged.
  @Test("nothing that was acknowledged is lost or refused after two power cuts", arguments: FaultyDisk.Luck.allCases)
  func twice(first: FaultyDisk.Luck) throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let start: Int
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("kept")
      try keychain.put("also kept")
      start = disk.count
      for index in 0..<3 { try keychain.put("long \(index)", String(repeating: "x", count: 60_000)) }
    }
    let events = disk.events()
    let sync = events.indices.dropFirst(start).first { events[$0].kind == .sync && events[$0].file == "vault.db-wal" }
    let files = disk.files(events, cutAfter: try #require(sync), first)
    for size in [10, 20_000] {
      let other = try Fixture(create: false)
      try other.makeDirectory()
      for (name, data) in files where name != "vault.lock" {
        try #require(
          FileManager.default.createFile(
            atPath: other.path(name), contents: data, attributes: [.posixPermissions: 0o600]))
      }
      let disk = try FaultyDisk(other)
      var (start, acknowledged) = (0, 0)
      do {
        let keychain = try Keychain(opening: other.directory)
        try keychain.unlock(vaultKey: fixture.vaultKey)
        start = disk.count
        try keychain.put("short", String(repeating: "y", count: size))
        acknowledged = disk.count
      }
      let events = disk.events()
      let syncs = (start..<acknowledged).filter { events[$0].kind == .sync }
      for cut in syncs + [acknowledged] {
        for luck in FaultyDisk.Luck.allCases {
          let copy = try FileCopy(disk.files(events, cutAfter: cut, luck))
          do {
            let keychain = try Keychain(opening: copy.directory)
            try keychain.unlock(vaultKey: fixture.vaultKey)
            #expect(try keychain.text("kept") == "value", "\(size), \(cut), \(luck)")
            #expect(try cut < acknowledged || keychain.names("").contains("short"), "\(size), \(cut), \(luck)")
            #expect(try keychain.verify().isOK)
          } catch {
            Issue.record("\(size), \(cut - start), \(luck): \(error)")
          }
        }
      }
    }
  }

  @Test("a write that is not waited for is with the system, and on the disk when the log was synced")
  func deferredSync() throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let keychain = try fixture.unlocked()
    try AuditStoreTests.write(1, to: keychain, isSynced: false)
    #expect(disk.events().last?.kind == .write)
    try keychain.syncLog()
    #expect(disk.events().last?.kind == .sync)
    try AuditStoreTests.write(1, to: keychain)
    #expect(disk.events().last?.kind == .sync)
  }

  @Test("when a change is acknowledged, all of the log that it wrote has been synced")
  func order() throws {
    let fixture = try Fixture()
    let disk = try FaultyDisk(fixture)
    let keychain = try fixture.unlocked()
    let steps = try work(keychain, disk)
    let events = disk.events()
    for step in steps.dropFirst() {
      let last = try #require(events[..<step.acknowledged].last { $0.file == "vault.db-wal" })
      #expect(last.kind == .sync)
    }
    withExtendedLifetime(keychain) {}
  }
}

/// Files in a directory of their own, in memory instead of on the disk if possible.
final class FileCopy {
  let directory: String

  init(_ files: [String: Data]) throws {
    directory = try ScratchFolder.make()
    for (name, data) in files { try put(name, data) }
  }

  func put(_ name: String, _ data: Data) throws {
    guard
      FileManager.default.createFile(
        atPath: directory + "/" + name, contents: data, attributes: [.posixPermissions: 0o600])
    else { throw POSIXError(.EIO) }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }
}

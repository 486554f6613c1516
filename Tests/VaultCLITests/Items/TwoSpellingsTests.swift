import Foundation
import Glibc
import Testing
import VaultBytes
import VaultClient
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("Two items whose names are the same letters in two spellings (NFC, NFD)") struct TwoSpellingsTests {
  private static let (one, other) = ("caf\u{E9}", "cafe\u{301}")

  /// Makes the two items: the first with one version, the second with two.
  private func stand() throws -> KeptStand {
    let stand = try KeptStand()
    try stand.sandbox.must(["set", Self.one], stdin: "first value")
    try stand.sandbox.must(["set", Self.other], stdin: "value")
    try stand.sandbox.must(["set", Self.other, "--update"], stdin: "second value")
    return stand
  }

  private func waitForReceipts(_ stand: KeptStand) throws {
    try wait(for: "the receipts") {
      try stand.sandbox.must(["receipts", Self.one]).contains("\t1\thas it")
        && stand.sandbox.must(["receipts", Self.other]).contains("\t2\thas it")
    }
  }

  @Test("a list says that two names look the same") func listed() throws {
    let stand = try stand()
    defer { stand.close() }
    let terminal = try Terminal(stand.sandbox, ["list"])
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.contains(" is the name of two items, with its accents composed in two ways"))
    #expect(Listing.lookalikes(["a", "b"]) == nil)
  }

  @Test("both stand in a file that is kept, and each has a receipt") func kept() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.write("x={{ vault \"\(Self.one)\" }}\ny={{ vault \"\(Self.other)\" }}\n", to: "t")
    let terminal = try stand.begin("--exec", "true")
    try terminal.expect("wrote")
    #expect(try stand.read() == "x=first value\ny=second value\n")
    try waitForReceipts(stand)
    try stand.end(terminal)
  }

  @Test("a watcher of both gives each its own receipt") func watched() throws {
    let stand = try stand()
    defer { stand.close() }
    let terminal = try Terminal(stand.sandbox, ["watch", Self.one, Self.other, "--now", "--exec", "true"])
    try waitForReceipts(stand)
    try stand.end(terminal)
    var queue = WatchQueue()
    for name in [Self.one, Self.other] {
      queue.add(Vault.Event(event: "item", time: 1, name: name, change: "updated", version: 1))
    }
    #expect(queue.take().count == 2)
  }

  @Test("a use of one is none of the other") func used() throws {
    let stand = try stand()
    defer { stand.close() }
    let since = time(nil) + 1
    try wait(for: "the next second") { time(nil) >= since }
    try stand.sandbox.must(["get", Self.other])
    let unused = try stand.sandbox.must(["list", "--unused", "@\(since)"]).split(separator: "\n")
    #expect(unused.contains { $0.utf8.elementsEqual(Self.one.utf8) })
    #expect(!unused.contains { $0.utf8.elementsEqual(Self.other.utf8) })
    #expect(try stand.sandbox.must(["audit", "item", Self.one]).isEmpty)
  }

  @Test("both are named where something is wrong with both") func harmed() throws {
    let report = VerifyReport(
      findings: [Self.one, Self.other, Self.one].map { Wire.Finding(kind: "missing", item: 7, name: $0, text: "gone") },
      result: Wire.Verification(records: 9, unharmed: 3, harmed: 2, omitted: 0, unchecked: [], changed: []))
    var object = JSONBuilder()
    report.add(to: &object)
    let json = object.take().withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Data($0) } }
    let names = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])["harmed_names"] as? [String]
    #expect(names?.count == 2)
  }
}

import Testing
import VaultWire

@testable import VaultImport

@Suite("What is written is read again") struct RoundTripTests {
  /// The entries in words, in an order that does not depend on that of the file.
  private static func words(_ entries: [Entry], withID: Bool = false) -> [[String]] {
    entries.map { RoundTrip.words($0, withID: withID) }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test("with all fields, for random entries of both formats", arguments: ExportOrder.Format.allCases)
  func random(format: ExportOrder.Format) throws {
    var count = 0
    for seed in 0..<UInt64(40) {
      var random = RandomEntries(format, seed: seed)
      let entries = random.entries()
      // Each key derivation takes time, so most exports of Bitwarden have none.
      let password = format == .bitwarden && seed % 8 > 0 ? nil : "pass"
      let file = try RoundTrip.file(entries, format, password: password)
      let read = try RoundTrip.entries(in: file, format, password: password)
      #expect(Self.words(read) == Self.words(entries), "seed \(seed)")
      count += entries.reduce(0) { $0 + $1.fields.count }
    }
    #expect(count > 500)
  }

  @Test("with the identifications that the entries have") func identifications() throws {
    let id = "0123456789abcdef0123456789abcdef"
    var entry = Entry(.login, id: id, title: "a")
    entry.add("Password", .password, "p")
    // The second one has the identification of the first, so it gets another.
    let read = try RoundTrip.entries(in: RoundTrip.file([entry, entry], .kdbx), .kdbx)
    #expect(read[0].id == id && read[1].id != id && read[1].id.utf8.count == 32)
    let again = try RoundTrip.entries(in: RoundTrip.file([entry, entry], .kdbx), .kdbx)
    #expect(again.map(\.id) == read.map(\.id))
  }

  @Test("with ten versions in their order") func versions() throws {
    var entry = Entry(.login, title: "a")
    entry.add("Password", .password, "new")
    entry.add("PIN", .secret, "9")
    for number in 0..<9 {
      entry.add("Password", .oldPassword, "old \(number)", time: Int64(1000 + number))
      entry.add("PIN", .oldField, "\(number)", time: Int64(1000 + number))
    }
    let read = try RoundTrip.entries(in: RoundTrip.file([entry], .kdbx), .kdbx)[0]
    let old = read.fields.filter { $0.role == .oldPassword }
    #expect(old.map(\.text) == (0..<9).map { "old \($0)" } && old.map(\.time) == (1000..<1009).map { Int64($0) })
    #expect(read.fields.filter { $0.role == .oldField }.map(\.text) == (0..<9).map(String.init))
  }

  @Test("only with the right password", arguments: ExportOrder.Format.allCases)
  func wrongPassword(format: ExportOrder.Format) throws {
    let file = try RoundTrip.file([Entry(.login, title: "a")], format, password: "right")
    #expect(throws: ImportFailure.self) { _ = try RoundTrip.entries(in: file, format, password: "wrong") }
  }

  @Test("no file without a password where the format has one") func withoutPassword() {
    #expect(throws: ImportFailure(.noSecret, "a KeePass database has a password")) {
      _ = try RoundTrip.file([], .kdbx, password: nil)
    }
    #expect(throws: ImportFailure.self) { _ = try RoundTrip.file([], .bitwarden, password: "") }
  }

  @Test("a file is different each time, although it has the same content") func fresh() throws {
    let files = try (0..<2).map { _ in try RoundTrip.file([], .kdbx) }
    #expect(files[0] != files[1] && files[0].count == files[1].count)
  }

  @Test("a file that is cut off, or of which a bit is another, is refused") func damage() throws {
    var entry = Entry(.login, title: "a")
    entry.add("Password", .password, "p")
    let file = try RoundTrip.file([entry], .kdbx)
    // A changed header may ask for more work than a test has time for, so only what follows is changed.
    for place in stride(from: file.count - 600, to: file.count, by: 97) {
      var changed = file
      changed[place] ^= 4
      #expect(throws: ImportFailure.self) { _ = try RoundTrip.entries(in: changed, .kdbx) }
      #expect(throws: ImportFailure.self) { _ = try RoundTrip.entries(in: Array(file[..<place]), .kdbx) }
    }
  }
}

import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI
@testable import VaultClient

@Suite("The values that an import compares") struct PresentValuesTests {
  /// A daemon that notes what it is asked for. The value of each item is its name.
  private final class Daemon {
    /// The most questions that have no reply.
    private static let room = 3

    private(set) var events: [String] = []
    /// The items whose values come in no way, and those that come only by a call of their own.
    var refused: Set<String> = []
    var late: Set<String> = []
    /// The item at which the connection ends, once.
    var end: String?
    private var waiting: [String] = []
    private var count = 0

    func values(_ items: [Wire.Item], most: Int = PresentValues.most) -> PresentValues {
      let expected = ExpectedValues(items, ask: ask, next: { () throws(ClientError) in try self.next() })
      return PresentValues(expected, most: most) { item throws(Failure) in try self.read(item) }
    }

    private func ask(_ item: Wire.Item) -> Bool {
      guard count < Self.room else { return false }
      events.append("ask \(item.name)")
      waiting.append(item.name)
      count += 1
      return true
    }

    private func next() throws(ClientError) -> Value {
      guard let name = waiting.first else { throw .disconnected }
      events.append("take \(name)")
      if name == end {
        (waiting, count, end) = ([], 0, nil)
        throw .disconnected
      }
      waiting.removeFirst()
      if waiting.isEmpty { count = 0 }
      if refused.contains(name) || late.contains(name) { throw .fault(.noSuchItem(name: name, unverified: nil)) }
      return value(name)
    }

    private func read(_ item: Wire.Item) throws(Failure) -> Value {
      events.append("read \(item.name)")
      if refused.contains(item.name) { throw Self.failure }
      return value(item.name)
    }

    private func value(_ name: String) -> Value {
      Value(name: name, version: 1, bytes: PlannedSource.buffer(Array(name.utf8)), item: nil)
    }

    static let failure = Failure(.denied, "it was refused")
  }

  /// An item of a name that consists of one letter; its value is as long.
  private static func item(_ name: Character, require: String = "none", size: Int = 1) throws -> Wire.Item {
    var item = try ExportedItems.item(String(name), .password, "x").facts
    (item.require, item.size) = (require, size)
    return item
  }

  private static func items(_ names: String) throws -> [Wire.Item] { try names.map { try item($0) } }

  /// Compares the values of items with their names, which they are.
  private static func compare(_ values: PresentValues, _ items: some Sequence<Wire.Item>) throws -> [Bool] {
    try items.map { item in
      try values.isSame(PlannedSource.field("", .password, Array(item.name.utf8)), item)
    }
  }

  /// The events in their order, `?` for a question, `!` for its reply, and `=` for a call of its own.
  private static func words(_ daemon: Daemon) -> String {
    daemon.events.map { event in
      event.replacing("ask ", with: "?").replacing("take ", with: "!").replacing("read ", with: "=")
    }.joined()
  }

  @Test("are asked for before they are needed, a few at a time, and read once") func ahead() throws {
    let daemon = Daemon()
    let items = try Self.items("abcde")
    let values = daemon.values(items)
    #expect(daemon.events.isEmpty)
    #expect(try Self.compare(values, items) == [true, true, true, true, true])
    #expect(Self.words(daemon) == "?a?b?c!a!b!c?d?e!d!e")
    #expect(try Self.compare(values, items.reversed()).allSatisfy { $0 })
    #expect(try !values.isSame(PlannedSource.field("", .password, Array("x".utf8)), items[0]))
    #expect(try !values.isSame(PlannedSource.field("", .password, Array("xy".utf8)), items[0]))
    #expect(Self.words(daemon) == "?a?b?c!a!b!c?d?e!d!e")
  }

  @Test("are read alone if a proof is required or they are large, and only when they are compared")
  func alone() throws {
    let daemon = Daemon()
    let proof = try Self.item("b", require: "user-presence")
    let large = try Self.item("d", size: ReadingAhead.largest + 1)
    let items = try [Self.item("a"), proof, Self.item("c"), large, Self.item("e")]
    let values = daemon.values(items)
    #expect(try Self.compare(values, [items[0], items[2]]) == [true, true])
    #expect(Self.words(daemon) == "?a?c?e!a!c")
    #expect(try Self.compare(values, [proof]) == [true])
    #expect(Self.words(daemon) == "?a?c?e!a!c=b")
    let field = SourceField(
      ImportedField("", .password, size: large.size), PlannedSource.buffer(Array(repeating: 0, count: large.size)))
    #expect(try !values.isSame(field, large))
    #expect(Self.words(daemon) == "?a?c?e!a!c=b=d")
  }

  @Test("of which one is refused are an error as without reading ahead, unless it needs a proof")
  func refused() throws {
    let daemon = Daemon()
    let proof = try Self.item("d", require: "user-presence")
    let items = try Self.items("abc") + [proof]
    (daemon.refused, daemon.late) = (["b", "d"], ["a"])
    let values = daemon.values(items)
    #expect(try Self.compare(values, [items[0]]) == [true])
    #expect(throws: Daemon.failure) { try Self.compare(values, [items[1]]) }
    #expect(try Self.compare(values, [items[2], proof]) == [true, false])
    #expect(Self.words(daemon) == "?a?b?c!a=a!b=b!c=d")
  }

  @Test("are read alone after the connection has ended, and later ones ahead again") func ended() throws {
    let daemon = Daemon()
    let items = try Self.items("abcde")
    daemon.end = "b"
    #expect(try Self.compare(daemon.values(items), items).allSatisfy { $0 })
    #expect(Self.words(daemon) == "?a?b?c!a!b=b=c?d?e!d!e")
  }

  @Test("may be needed in another order: those that came are kept as far as there is room", arguments: [0, 2, 9])
  func order(room: Int) throws {
    let daemon = Daemon()
    let items = try Self.items("abcdefgh")
    let values = daemon.values(items, most: room * (PresentValues.overhead + 1))
    #expect(try Self.compare(values, [items[2], items[4], items[1], items[3], items[7]]).allSatisfy { $0 })
    // The one that was asked for and passed over was kept.
    let kept = room > 1 ? "" : "=d"
    #expect(Self.words(daemon) == "?c?d?e!c!d!e=b\(kept)?h!h")
  }

  @Test("are expected in the very order in which a second import compares them", arguments: [false, true])
  func expected(ids: Bool) throws {
    let logins = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "1"), ("c", "4")]
    let entries = PlannedSource.map(
      logins.enumerated().map { number, login in
        PlannedSource.entry(
          id: ids ? "\(number)aa0bb11-2222-4333-8444-555566667777" : "", title: login.0, trashed: login.0 == "c",
          [("Password", .password, login.1), ("Notes", .note, "note")])
      })
    var vault = PlannedVault()
    vault.store(vault.plan(entries, ImportTerms(withTrash: true)))
    for terms in [ImportTerms(), ImportTerms(only: try Query(parsing: "name~b**")), ImportTerms(withTrash: true)] {
      var compared: [String] = []
      let plan = vault.plan(entries, terms) { compared.append($0) }
      let present = vault.present(entries)
      let expected = ImportPlan.expected(entries, present, terms, now: PlannedSource.now)
      #expect(plan.steps.isEmpty && !compared.isEmpty && expected.map(\.name) == compared)
    }
    #expect(ImportPlan.expected(entries, PlannedVault().present(entries), ImportTerms(), now: 0).isEmpty)
  }
}

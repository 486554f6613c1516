import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("Recent events") struct RecentEventsTests {
  private let holders = SecretHolders()

  private func events() -> RecentEvents {
    var place: UInt64 = 0
    return RecentEvents(in: holders) {
      place += 1
      return place
    }
  }

  private func item(_ name: String) throws -> VaultEvent { .item(try ItemName(name), .updated, version: 2) }

  private func names(_ events: ArraySlice<RecentEvents.Event>?) -> [String]? {
    events?.map { if case .item(let name, _, _, _, _) = $0.event { name.text } else { "-" } }
  }

  @Test("all that came behind a place is there, and of a place that is not known nobody can tell") func after() throws {
    let events = events()
    let start = events.newest
    #expect(names(events.after(start)) == [])
    let places = try ["a", "b", "c"].map { events.add(try item($0), at: 1) }
    #expect(names(events.after(start)) == ["a", "b", "c"])
    #expect(names(events.after(places[0])) == ["b", "c"])
    #expect(names(events.after(places[2])) == [] && events.newest == places[2])
    #expect(events.after(99) == nil)
  }

  @Test("no more than so many, and so many bytes, are kept: the oldest go") func bounds() throws {
    let many = events()
    let start = many.newest
    let places = try (0..<5000).map {
      many.add(.request(QuestionNumber($0), .asked), at: 1) + (try ItemName("a").text.isEmpty ? 1 : 0)
    }
    #expect(many.after(start) == nil && many.after(places[3000]) == nil)
    let kept = places.filter { many.after($0) != nil }
    #expect(kept.count > 512 && kept.count <= RecentEvents.most + 1 && kept.last == places.last)
    let long = events()
    let name = String(repeating: "x", count: 250)
    let ends = try (0..<5000).map { _ in long.add(try item(name), at: 1) }
    #expect((100...RecentEvents.mostBytes / 250).contains(ends.count { long.after($0) != nil }))
    // A single event above the limit is still sent, or is known to be missed.
    #expect(names(long.after(ends[4998])) == [name])
  }

  @Test("a lock that hides names leaves none, and who had seen all by then has missed nothing") func hidden() throws {
    let events = events()
    let first = events.add(try item("a"), at: 1)
    let last = events.add(try item("b"), at: 1)
    holders.letGo(for: Lock(.whenUnlocked, because: .asked, isEffective: true))
    #expect(names(events.after(first)) == ["b"])
    let lock = Lock([.whenUnlocked, .names], because: .asked, isEffective: true)
    #expect(events.outlives(lock))
    holders.letGo(for: lock)
    #expect(!events.outlives(lock) && events.after(first) == nil && names(events.after(last)) == [])
    events.hidesNames = { true }
    let state = events.add(.state(LockState(kind: .locked, cause: .asked, since: 2)), at: 2)
    #expect(names(events.after(last)) == ["-"])
    let hidden = events.add(try item("c"), at: 3)
    #expect(!events.outlives(lock) && events.after(state) == nil && names(events.after(hidden)) == [])
  }

  @Test("a cursor is 16 digits, and every place comes back from its own") func cursors() {
    for place in [0, 1, 0xABC, UInt64.max] {
      #expect(EventCursor.text(place).utf8.count == 16 && EventCursor.place(EventCursor.text(place)) == place)
    }
    for text in ["", "1", "+000000000000001", "000000000000000g", "00000000000000000"] {
      #expect(EventCursor.place(text) == nil)
    }
  }

  @Test("of a move one is told what one may know of both names") func parts() throws {
    let (from, to) = (try ItemName("from"), try ItemName("to"))
    func text(_ known: [ItemName]) -> String {
      let part = VaultEvent.item(from, .moved, to: to).part { name in name.map { known.contains($0) } ?? false }
      guard case .item(let name, let change, let new, _, _)? = part else { return "-" }
      return "\(change) \(name.text) \(new?.text ?? "-")"
    }
    #expect(text([from, to]) == "moved from to" && text([from]) == "deleted from -" && text([to]) == "created to -")
    #expect(text([]) == "-")
  }
}

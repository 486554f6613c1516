import Testing
import VaultClient
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("Changes that are watched") struct WatchQueueTests {
  private func item(_ name: String?, _ version: Int = 1, to: String? = nil) -> Vault.Event {
    Vault.Event(event: "item", time: 1, name: name, change: "updated", to: to, version: version)
  }

  /// Returns what a queue still tells of these changes: `a` for an update, `a>b` for a move, `-a` for a deletion.
  private func told(_ changes: String...) -> [String] {
    var queue = WatchQueue()
    for change in changes {
      let names = change.drop { $0 == "-" }.split(separator: ">").map(String.init)
      let kind = change.hasPrefix("-") ? "deleted" : names.count > 1 ? "moved" : "updated"
      queue.add(
        Vault.Event(event: "item", time: 1, name: names[0], change: kind, to: names.count > 1 ? names[1] : nil))
    }
    return queue.take().map { event in
      (event.change == "deleted" ? "-" : "") + [event.name, event.to].compactMap(\.self).joined(separator: ">")
    }
  }

  private let missed = Vault.Event(event: "state", time: 1, state: "locked", missed: true)

  @Test("of each item the last change counts, in the order of their coming") func coalesces() {
    var queue = WatchQueue()
    for event in [item("a"), item("b"), item("a", 2), item("c", to: "b")] { queue.add(event) }
    let taken = queue.take()
    #expect(taken.map { $0.to ?? $0.name } == ["a", "b"] && taken.map(\.version) == [2, 1])
    #expect(queue.isEmpty)
  }

  @Test("a name that is gone is told as gone, whatever comes later of the item under its new name") func gone() {
    #expect(told("a>b", "b") == ["a>b", "b"])
    #expect(told("a>b", "-b") == ["a>b", "-b"])
    #expect(told("a>b", "b", "-b", "b", "b") == ["a>b", "b"])
    #expect(told("a>b", "b>c", "c") == ["a>b", "b>c", "c"])
    #expect(told("-a", "b>a", "a") == ["b>a", "a"])
    #expect(told("a", "-a", "b") == ["-a", "b"])
  }

  @Test("a change is dropped once something has happened to all of its names") func covered() {
    #expect(told("a", "a>b") == ["a>b"])
    #expect(told("a", "b", "-b", "a>b") == ["a>b"])
    #expect(told("a>b", "b", "a") == ["b", "a"])
    #expect(told("a>b", "a", "b") == ["a", "b"])
    #expect(told("a>b", "b>a") == ["b>a"])
    #expect(told("a>a", "a") == ["a"])
  }

  @Test("a move that comes again after a failure is told with what came later") func moveAgain() {
    var queue = WatchQueue()
    queue.add(item("b", 3))
    queue.putBack([item("a", to: "b"), item("c")])
    #expect(queue.take().map { $0.to ?? $0.name } == ["b", "c", "b"])
  }

  @Test("what failed comes again with what came later, which counts") func putBack() {
    var queue = WatchQueue()
    for event in [item("b", 2), item("c")] { queue.add(event) }
    queue.putBack([item("a"), item("b")])
    #expect(queue.take().map { "\($0.name ?? "") \($0.version ?? 0)" } == ["a 1", "b 2", "c 1"])
  }

  @Test("changes without a name are one, and say that something was missed if one of them does") func nameless() {
    var queue = WatchQueue()
    for event in [item(nil), missed, item(nil)] { queue.add(event) }
    let taken = queue.take()
    #expect(taken.count == 1 && taken[0].missed == true)
  }

  @Test("more items than are told apart are a change of anything") func bounds() {
    var queue = WatchQueue()
    for number in 0..<5000 { queue.add(item("\(number)")) }
    for number in 0..<5000 { queue.add(item("\(number)", to: "\(number + 1)")) }
    let taken = queue.take()
    #expect(taken.count <= WatchQueue.most && taken[0].isOfAnything)
  }

  @Test("the pause grows from a second to a minute, and begins anew") func pauses() {
    var pause = RetryPause()
    #expect((0..<8).map { _ in pause.failed() } == [1, 2, 4, 8, 16, 32, 60, 60])
    pause.reset()
    #expect(pause.failed() == 1)
  }

  @Test("names and patterns are matched, both names of a move count, and what has no name is a change of all")
  func items() throws {
    let items = try WatchedItems(["a/*", "b"])
    for event in [item("a/x"), item("b"), item("c", to: "b"), item(nil), missed] { #expect(items.concerns(event)) }
    for event in [item("a/x/y"), item("c"), Vault.Event(event: "state", time: 1, state: "locked")] {
      #expect(!items.concerns(event))
    }
    #expect(items.names == ["b"] && items.queries == ["name~\(Predicates.quote("a/*"))"])
    #expect(try WatchedItems([]).queries == [nil] && WatchedItems([]).concerns(item("c")))
    #expect(throws: Failure.self) { try WatchedItems(["/a"]) }
  }
}

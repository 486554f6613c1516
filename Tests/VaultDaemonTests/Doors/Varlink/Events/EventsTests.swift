import Testing
import VaultModel
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("Events") struct EventsTests {
  /// A stand for events that are sent in turns, which the test runs.
  private final class Stand {
    var now: Int64 = 0
    private(set) lazy var turns = Turns(now: { [unowned self] in now }, ask: {})
    private(set) lazy var events = Events(in: turns, holders, recent: RecentEvents(in: holders) { 7 })
    let holders = SecretHolders()

    /// A watcher, and the frames sent to it.
    final class DescriptorWatcher {
      var frames: [String] = []
      /// The sizes of the received pieces, in bytes.
      var pieces: [Int] = []
      /// An action to run at the next piece; nothing more is sent after that.
      var leaves: (() -> Void)?

      var id: ObjectIdentifier { ObjectIdentifier(self) }

      func take(_ messages: RawSpan) -> Bool {
        pieces.append(messages.byteCount)
        // Copy the bytes before the span ends.
        let bytes = unsafe messages.withUnsafeBytes { unsafe Array($0) }
        #expect(bytes.last == 0)
        frames += bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        guard let leaves else { return true }
        leaves()
        return false
      }
    }

    func watcher(
      mayKnow: @escaping (ItemName?) -> Bool = { _ in true }, mayStay: @escaping () -> Bool = { true }
    ) -> DescriptorWatcher {
      let watcher = DescriptorWatcher()
      events.add(watcher.id, mayKnow: mayKnow, mayStay: mayStay) {
        watcher.frames.append("missed")
      } send: { [unowned self] in
        // Each sending takes a millisecond.
        now += 1_000_000
        return watcher.take($0)
      }
      return watcher
    }

    func announce(_ numbers: some Sequence<Int>, length: Int = 0) {
      for number in numbers {
        guard let name = try? ItemName("name-\(number)" + String(repeating: "x", count: length)) else { return }
        events.announce(.item(name, .created, to: name), at: 1)
      }
    }

    func run() {
      for _ in 0..<10_000 where events.count > 0 { turns.turn() }
    }
  }

  private func frame(_ number: Int) -> String {
    #"{"parameters":{"event":"item","time":1,"name":"name-\#(number)","change":"created","to":"name-\#(number)","#
      + #""cursor":"0000000000000007"},"continues":true}"#
  }

  @Test("an event is written once, and comes to all in the order in which it was told") func once() {
    let stand = Stand()
    let watchers = (0..<240).map { _ in stand.watcher() }
    stand.announce(0..<128)
    stand.announce([128])
    #expect(stand.events.written == 129)
    #expect(watchers.allSatisfy { $0.frames.isEmpty })
    stand.run()
    let all = (0...128).map(frame)
    #expect(watchers.allSatisfy { $0.frames == all && $0.pieces.count == 1 })
    #expect(stand.events.count == 0)
  }

  @Test("nobody is sent to for longer than a turn") func turns() {
    let stand = Stand()
    let watchers = (0..<12).map { _ in stand.watcher() }
    stand.announce(0..<128)
    stand.turns.turn()
    // Each sending takes a millisecond, and a turn five.
    #expect(watchers.count { !$0.frames.isEmpty } == 5)
    stand.turns.turn()
    #expect(watchers.count { !$0.frames.isEmpty } == 10)
  }

  @Test("who comes later is sent what happens later, and who goes is sent no more") func comingAndGoing() {
    let stand = Stand()
    let early = stand.watcher()
    stand.announce([1])
    let late = stand.watcher()
    stand.announce([2])
    stand.run()
    #expect(early.frames == [frame(1), frame(2)] && late.frames == [frame(2)])
    stand.announce([3])
    stand.events.remove(early.id)
    stand.run()
    #expect(early.frames.count == 2 && late.frames == [frame(2), frame(3)])
    stand.announce([4])
    stand.events.remove(late.id)
    stand.run()
    #expect(late.frames.count == 2 && stand.events.count == 0)
    stand.announce([5])
    #expect(stand.events.written == 4)
  }

  @Test("who is cut off while it is sent something holds up nobody") func cutOff() {
    let stand = Stand()
    let deaf = stand.watcher()
    let other = stand.watcher()
    // A connection that closes removes itself in the same way.
    deaf.leaves = { stand.events.remove(deaf.id) }
    stand.announce(0..<3)
    stand.run()
    stand.announce([3])
    stand.run()
    #expect(deaf.frames.count == 3 && other.frames == (0..<4).map(frame) && stand.events.count == 0)
  }

  @Test("much comes in pieces of whole events, and holds back those who make more until it is sent") func pieces() {
    let stand = Stand()
    let watchers = (0..<3).map { _ in stand.watcher() }
    var made = 0
    while !stand.events.isFull {
      stand.announce(made..<made + 1, length: 200)
      made += 1
    }
    stand.turns.turn()
    stand.announce(made..<made + 1)
    stand.run()
    #expect(!stand.events.isFull)
    for watcher in watchers {
      #expect(watcher.frames.count == made + 1 && watcher.frames.last == frame(made))
      #expect(watcher.pieces.count > 3 && watcher.pieces.allSatisfy { $0 <= 64 << 10 })
    }
  }

  private let hiding = Lock([.whenUnlocked, .names], because: .asked, isEffective: true)
  private let state = VaultEvent.state(LockState(kind: .locked, cause: .asked, since: 2))

  private let locked =
    #"{"parameters":{"event":"state","time":2,"state":"locked","cause":"by `vault lock`","#
    + #""cursor":"0000000000000007"},"continues":true}"#

  @Test("names that wait are wiped by a lock that hides them: who was not told of all hears that something was missed")
  func hiddenNames() {
    let stand = Stand()
    let watchers = (0..<7).map { _ in stand.watcher() }
    stand.announce([0, 1])
    stand.turns.turn()
    stand.holders.letGo(for: hiding)
    #expect(stand.events.count == 0)
    stand.events.announce(state, at: 2)
    stand.run()
    #expect(watchers.count { $0.frames == [frame(0), frame(1), locked] } == 5)
    // The state that they are told is later than all that happened before.
    #expect(watchers.count { $0.frames == ["missed"] } == 2)
    stand.announce([2])
    stand.run()
    #expect(watchers.count { $0.frames == ["missed", frame(2)] } == 2)
  }

  @Test("a lock decides nothing about those who watch, however many they are and whatever waits") func undecided() {
    let stand = Stand()
    var decisions = 0
    let watchers = (0..<240).map { _ in
      stand.watcher(mayKnow: { _ in
        decisions += 1
        return true
      })
    }
    stand.announce(0..<128)
    stand.holders.letGo(for: hiding)
    #expect(decisions == 0 && !stand.events.outlives(hiding))
    for _ in 0..<1000 { stand.turns.turn() }
    #expect(watchers.allSatisfy { $0.frames == ["missed"] } && decisions == 0)
  }

  @Test("what is for administrators is told to them alone, also after a lock that hides names") func audience() throws {
    let stand = Stand()
    let all = stand.watcher()
    let other = stand.watcher(mayKnow: { $0 != nil })
    stand.events.announce(.integrityFailed("it is not whole"), at: 3)
    stand.holders.letGo(for: hiding)
    stand.events.announce(state, at: 2)
    stand.run()
    #expect(all.frames.count == 2 && all.frames[0].contains("not whole") && all.frames[1] == locked)
    #expect(other.frames == [locked])
  }

  @Test("whoever may stay is asked in turns after rights have changed, and who may not is sent no more") func doubt() {
    let stand = Stand()
    var (asked, isAllowed) = (0, true)
    let watchers = (0..<12).map { index in
      stand.watcher(mayStay: {
        asked += 1
        stand.now += 1_000_000
        return isAllowed || index > 0
      })
    }
    stand.events.reconsider()
    #expect(asked == 0)
    stand.turns.turn()
    #expect(asked == 5)
    for _ in 0..<10 { stand.turns.turn() }
    #expect(asked == 12)
    isAllowed = false
    stand.events.reconsider()
    for _ in 0..<10 { stand.turns.turn() }
    stand.announce([0])
    stand.run()
    #expect(watchers.first?.frames.isEmpty == true && watchers.dropFirst().allSatisfy { $0.frames == [frame(0)] })
  }

  @Test("what one may not know of is passed over, and the rest comes in its order") func decided() {
    let stand = Stand()
    var isAllowed = true
    let all = stand.watcher()
    let some = stand.watcher(mayKnow: { $0?.text != "name-1" && $0?.text != "name-4" })
    let changing = stand.watcher(mayKnow: { _ in isAllowed })
    stand.announce(0..<3)
    stand.run()
    // Each event is decided when it is sent, whatever was decided for earlier events.
    isAllowed = false
    stand.announce(3..<6)
    stand.events.announce(.state(LockState(kind: .locked, cause: .asked, since: 2)), at: 2)
    stand.run()
    #expect(all.frames.count == 7 && stand.events.count == 0)
    #expect(some.frames.prefix(4) == [0, 2, 3, 5].map(frame)[...] && some.frames.count == 5)
    #expect(changing.frames.prefix(3) == (0..<3).map(frame)[...] && changing.frames.count == 4)
  }
}

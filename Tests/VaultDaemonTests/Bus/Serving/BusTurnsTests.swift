import NIOCore
import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The turns of calls on a bus") struct BusTurnsTests {
  @Test("a long call waits for a turn of its own, and a short one is answered at once", arguments: [false, true])
  func turn(isLong: Bool) throws {
    var limits = BusPeers.Limits()
    if isLong { limits.long = 1000 }
    // Time stands still, so that no turn is ever over.
    var clock = Clock.system
    clock.monotonic = { 1_000_000_000 }
    let stand = try ServingStand(limits, clock: clock)
    try stand.on { inside in
      let loop = inside.example.loop
      inside.peers.cost = { [weak example = inside.example] request in
        guard request.message.member == "Stay" else { return .answer }
        // This comes after the call has been taken, and before the next turn.
        loop?.assumeIsolated().execute { example?.note("taken") }
        return .answer
      }
    }
    let out = try stand.python(
      """
      bus, other, answers = connect(), connect(), []
      for each in (bus, other): call(each, 'Who')
      send(bus, 'Stay', 's', 'x' * 2000, then=lambda m: answers.append(m.get_args_list()[0]))
      flush(bus)
      while not answers:
        call(other, 'Answer')
        GLib.MainContext.default().iteration(False)
      print(*answers)
      """)
    #expect(out == ["at last"])
    let (first, second) = isLong ? ("taken", "stay") : ("stay", "taken")
    try stand.expect(first, second)
  }
}

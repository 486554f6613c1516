import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Looking for the next request") struct AnticipationTests {
  /// Lets a client ask `count` times, each time `gap` nanoseconds after the answer. Returns true if the daemon polls
  /// for the client's next request after the last of these.
  private func looks(
    _ anticipation: inout Anticipation, after count: Int, gap: Int64 = 10_000, from start: Int64
  ) -> Bool {
    var looks = false
    for turn in 0..<Int64(count) {
      anticipation.cameBack(now: start + turn * gap)
      looks = anticipation.looks(now: start + turn * gap)
    }
    return looks
  }

  @Test("only a client that kept coming back at once is looked for") func streak() {
    var quick = Anticipation()
    #expect(!looks(&quick, after: 16, from: 1_000_000))
    #expect(looks(&quick, after: 2, from: 1_160_000))
    var slow = Anticipation()
    #expect(!looks(&slow, after: 1000, gap: 110_000, from: 1_000_000))
  }

  @Test("a look in vain makes the next one rarer, and looks that found something make it usual again") func vain() {
    var anticipation = Anticipation()
    #expect(looks(&anticipation, after: 18, from: 1_000_000))
    anticipation.looked(found: false)
    #expect(!looks(&anticipation, after: 32, from: 2_000_000))
    #expect(looks(&anticipation, after: 2, from: 2_320_000))
    anticipation.looked(found: true)
    anticipation.looked(found: false)
    #expect(!looks(&anticipation, after: 32, from: 3_000_000))
    // The polls are never given up for good, however many were in vain.
    for _ in 0..<100 { anticipation.looked(found: false) }
    #expect(looks(&anticipation, after: (1 << 16) + 2, from: 4_000_000))
  }

  @Test("a request that comes late, and a look in vain, make the daemon count from the beginning") func anew() {
    var late = Anticipation()
    #expect(!looks(&late, after: 15, from: 1_000_000))
    // This one comes 100 microseconds after the last answer.
    #expect(!looks(&late, after: 16, from: 1_240_000))
    #expect(looks(&late, after: 1, from: 1_400_000))
    var vain = Anticipation()
    #expect(looks(&vain, after: 17, from: 1_000_000))
    vain.looked(found: false)
    // The client asks as quickly as before.
    #expect(!looks(&vain, after: 31, from: 1_170_000))
    #expect(looks(&vain, after: 1, from: 1_480_000))
  }

  @Test("a client that asks without a pause gets every answer, of requests of every length") func answers() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = "correct horse battery"
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    let client = try sandbox.client()
    // Requests around the 1,024 bytes that one poll reads: a long name, which is refused.
    for length in [1, 900, 1023, 1024, 1025, 2047, 2048, 5000, 1_000_000] {
      let value = String(repeating: "x", count: length)
      #expect(try client.call("Set", ["name": "a", "value": value, "update": true]).error == nil)
      for _ in 0..<(length < 10_000 ? 100 : 10) {
        #expect(try client.call("Get", ["name": "a"]).string("value")?.count == length)
        if length < 10_000 { #expect(try client.call("Get", ["name": value]).error != nil) }
      }
    }
  }
}

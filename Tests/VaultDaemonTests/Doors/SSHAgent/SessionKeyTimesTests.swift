import NIOCore
import NIOEmbedded
import Testing
import VaultModel
import VaultSigning

@testable import VaultDaemon
@testable import VaultSSH
@testable import VaultService

@Suite("Keys of `ssh-add -t`") struct SessionKeyTimesTests {
  /// Makes the constraints of a key with this lifetime in seconds.
  private static func constraints(lifetime: UInt8) throws -> KeyConstraints {
    let bytes: [UInt8] = [1, 0, 0, 0, lifetime]
    let span = unsafe bytes.span.bytes  // Bytes have no padding.
    var reader = SSHReader(span)
    return try KeyConstraints(&reader, span)
  }

  @Test("are gone by the clock that goes on in a sleep, and without one also where nobody asks for them") func ends()
    throws
  {
    let stand = try ConnectionStand.unlocked("idle = off")
    defer { stand.close() }
    try stand.on { client in
      let timers = EmbeddedEventLoop()
      let keys = SessionKeys<KeyConstraints>(client.vault, VaultService.Timer(on: timers))
      let brief = try Self.constraints(lifetime: 10)
      try keys.add(NewKey.key(.ed25519), comment: "brief", brief, lifetime: brief.lifetime)
      try keys.add(NewKey.key(.ed25519), comment: "long", KeyConstraints(), lifetime: nil)
      client.pass(.seconds(4))
      client.sleep(.nanoseconds(5_999_999_999))
      #expect(keys.all.map(\.comment) == ["brief", "long"])
      client.sleep(.nanoseconds(1))
      #expect(keys.all.map(\.comment) == ["long"])
      try keys.add(NewKey.key(.ed25519), comment: "brief", brief, lifetime: brief.lifetime)
      var isTold = false
      keys.someAreGone = { isTold = true }
      client.pass(.nanoseconds(9_999_999_999))
      timers.advanceTime(by: .nanoseconds(9_999_999_999))
      #expect(!isTold)
      client.pass(.nanoseconds(1))
      timers.advanceTime(by: .nanoseconds(1))
      #expect(isTold)
      try? timers.syncShutdownGracefully()
    }
  }

  @Test("end each at its own time where nobody asks for them, and one that is added again at its new one")
  func several() throws {
    let stand = try ConnectionStand.unlocked("idle = off")
    defer { stand.close() }
    try stand.on { client in
      let timers = EmbeddedEventLoop()
      let keys = SessionKeys<KeyConstraints>(client.vault, VaultService.Timer(on: timers))
      let again = try NewKey.key(.ed25519)
      try keys.add(again, comment: "again", KeyConstraints(), lifetime: 10)
      try keys.add(NewKey.key(.ed25519), comment: "long", KeyConstraints(), lifetime: 30)
      try keys.add(NewKey.key(.ed25519), comment: "short", KeyConstraints(), lifetime: 20)
      try keys.add(again, comment: "once more", KeyConstraints(), lifetime: nil)
      var told = 0
      keys.someAreGone = { told += 1 }
      // The seconds that pass, and how often somebody was told by then.
      for (seconds, times) in [(10, 0), (9, 0), (1, 1), (9, 1), (1, 2), (1000, 2)] as [(Int64, Int)] {
        client.pass(.seconds(seconds))
        timers.advanceTime(by: .seconds(seconds))
        #expect(told == times)
      }
      #expect(keys.all.map(\.comment) == ["once more"])
      try? timers.syncShutdownGracefully()
    }
  }

  @Test("are wiped when they go, by whatever way, even while a call that waits still refers to them") func wiped()
    throws
  {
    let stand = try ConnectionStand.unlocked("idle = off")
    defer { stand.close() }
    try stand.on { client in
      let timers = EmbeddedEventLoop()
      let keys = SessionKeys<KeyConstraints>(client.vault, VaultService.Timer(on: timers))
      func canSign(_ key: SessionKey<KeyConstraints>) -> Bool {
        let order = RSAOrder(client.assembly.rooms.items.rsa, of: 0) {}
        return (try? key.sign([1], flags: 0, order)) != nil
      }
      let ends: [(SessionKey<KeyConstraints>) throws -> Void] = [
        { keys.remove($0.blob) },
        { _ in keys.removeAll() },
        { _ in
          client.pass(.seconds(10))
          #expect(keys.all.isEmpty)
        },
        { _ in client.vault.lock(because: .asked) },
      ]
      for end in ends {
        try keys.add(NewKey.key(.ed25519), comment: "held", KeyConstraints(), lifetime: 10)
        let held = try #require(keys.all.first)
        #expect(canSign(held))
        try end(held)
        #expect(!canSign(held) && keys.all.isEmpty)
      }
      try client.unlock()
      // A key that is added again takes the place of the one before.
      let key = try NewKey.key(.ed25519)
      try keys.add(key, comment: "before", KeyConstraints(), lifetime: nil)
      let before = try #require(keys.all.first)
      try keys.add(key, comment: "after", KeyConstraints(), lifetime: nil)
      let after = try #require(keys.all.first)
      #expect(!canSign(before) && canSign(after))
      try? timers.syncShutdownGracefully()
    }
  }
}

import NIOCore
import Testing
import VaultModel
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("How long a client is waited for") struct ClientTimesTests {
  private func withStand(_ settings: String = "", _ body: (ConnectionStand) throws -> Void) throws {
    let stand = try ConnectionStand(settings)
    defer { stand.close() }
    try body(stand)
  }

  @Test("a frame that has begun has half a minute to end, however it trickles") func halfFrame() throws {
    try withStand { stand in
      let open = try stand.on { client in
        client.send("{\"method\":")
        client.pass(.seconds(20))
        client.send("\"io")
        client.pass(.seconds(9))
        let before = client.isOpen
        client.pass(.seconds(1))
        return [before, client.isOpen]
      }
      #expect(open == [true, false])
    }
  }

  @Test("one that ends in time is answered, and the next one has its own half minute") func wholeFrame() throws {
    try withStand { stand in
      let first = try stand.on { client in
        client.send("{\"method\":\"io.vaultd.Vault.Sta")
        client.pass(.seconds(29))
        client.send("tus\"}\0")
        client.pass(.seconds(29))
        client.send("{")
        client.pass(.seconds(29))
        let before = client.isOpen
        let messages = client.messages()
        client.pass(.seconds(1))
        return (messages.count, before, client.isOpen)
      }
      #expect(first == (1, true, false))
      try stand.on { _ in }
    }
    // Silence between two calls may last for any time.
    try withStand { stand in
      let open = try stand.on { client in
        client.call("Status")
        client.pass(.hours(10))
        return client.isOpen
      }
      #expect(open)
    }
  }

  @Test("what a client leaves unread counts for its user until the client has read it, or has gone, however it goes")
  func unreadCount() throws {
    let ends: [@Sendable (ConnectionStand.Inside) -> Void] = [
      { $0.goOnReading() }, { $0.leave() }, { $0.pass(.seconds(31)) },
    ]
    for end in ends {
      try withStand { stand in
        let counts = try stand.on { client in
          let (other, share) = (try client.another(), client.connection.share)
          for each in [client, other] {
            each.stopReading()
            each.call("Status")
          }
          let both = share.unreadBytes
          end(other)
          // The end of a channel is told in a later turn.
          client.pass(.seconds(1))
          let one = share.unreadBytes
          client.leave()
          other.leave()
          return [both, one, share.unreadBytes]
        }
        #expect(counts[0] > 0 && counts[1] < counts[0] && counts[2] == 0, "\(counts)")
      }
    }
  }

  @Test("a client that does not read what it asked for is dropped after half a minute, one that reads it is not")
  func notReading() throws {
    for reads in [false, true] {
      try withStand { stand in
        let open = try stand.on { client in
          client.stopReading()
          client.call("Status")
          client.pass(.seconds(29))
          let before = client.isOpen
          if reads { client.goOnReading() }
          client.pass(.seconds(1))
          let after = client.isOpen
          client.pass(.hours(1))
          return [before, after, client.isOpen]
        }
        #expect(open == [true, reads, reads])
      }
    }
  }

  @Test("a refused client has a second to read why") func linger() throws {
    try withStand { stand in
      let seen = try stand.on { client in
        client.send("no call\0")
        let told = client.messages()
        client.pass(.milliseconds(999))
        let before = (client.isOpen, client.assembly.clients.lingering)
        client.pass(.milliseconds(1))
        return (told.count, before.0, before.1, client.isOpen, client.assembly.clients.lingering)
      }
      #expect(seen == (1, true, 1, false, 0))
    }
  }

  @Test("a client that puts a question to a person and hears no answer is told so after five minutes") func question()
    throws
  {
    try withStand { stand in
      let seen = try stand.on { client in
        client.call("Init", #"{"kdf_memory":19922944,"kdf_passes":2}"#, more: true)
        let asked = client.messages()
        client.pass(.seconds(299))
        let before = client.messages()
        client.pass(.seconds(1))
        return (asked.count, before, client.door.conversations.count)
      }
      #expect(seen.0 == 1 && seen.1 == [] && seen.2 == 0)
      let told = try stand.received("the refusal")
      #expect(told.count == 1 && told[0].contains("io.vaultd.Vault.Cancelled"), "\(told)")
    }
  }

  @Test("a call that has waited for an unlock as long as it said is answered once, and not again at the unlock")
  func timedOut() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let (early, isWaiting) = try stand.on { client in
      client.vault.lock(because: .asked)
      client.call("Get", #"{"name":"a","wait_ms":2000}"#)
      client.pass(.milliseconds(1999))
      let early = client.messages()
      client.pass(.milliseconds(1))
      return (early, !client.vault.waiting.isEmpty(.unlock))
    }
    let late = try stand.received("the refusal")
    #expect(early == [] && late.count == 1 && late[0].contains("io.vaultd.Vault.TimedOut"), "\(late)")
    #expect(!isWaiting)
  }

  @Test("one that watches and does not read is cut off as soon as too much is unread, and keeps no event of others")
  func deafMonitor() throws {
    for (reads, count) in [(false, 3000), (true, 300)] {
      try withStand { stand in
        try stand.on { client in
          client.call("Monitor", more: true)
          if !reads { client.stopReading() }
        }
        // Some hundred KiB of events in all, but never more at a time than may wait here.
        for _ in 0..<count / 100 {
          try stand.on { client in
            for index in 0..<100 {
              let name = try ItemName("\(index)" + String(repeating: "x", count: 100))
              client.door.events.announce(.item(name, .created), at: 0)
            }
          }
          try stand.goRound("the events to be told") { $0.door.events.count == 0 }
        }
        let (open, told) = try stand.on { ($0.isOpen, $0.messages().count) }
        #expect(open == reads)
        #expect(told == (reads ? 1 + count : 1))
      }
    }
  }

  @Test("of many calls that come at once some are handled, and the rest in another turn") func many()
    throws
  {
    try withStand { stand in
      let first = try stand.on { client in
        client.send(String(repeating: #"{"method":"io.vaultd.Vault.Nonsense"}"# + "\0", count: 80))
        return client.messages().count
      }
      #expect(first == 32)
      try stand.goRound("the rest to be handled") { !$0.hasWork }
      let rest = try stand.on { $0.messages().count }
      #expect(rest == 48)
    }
  }

  @Test("a long frame that asks for what takes long is read in one turn and handled in another") func long() throws {
    for (length, isPutOff) in [(60_000, false), (70_000, true)] {
      try withStand { stand in
        let value = String(repeating: "v", count: length)
        let first = try stand.on { client in
          client.call("Set", #"{"name":"a","value":"\#(value)"}"#)
          return client.messages().count
        }
        #expect(first == (isPutOff ? 0 : 1))
        try stand.goRound("it to be handled") { !$0.hasWork }
        let rest = try stand.on { $0.messages().count }
        #expect(rest == (isPutOff ? 1 : 0))
      }
    }
  }

  @Test("past its rate a client is answered later, and not refused") func rate() throws {
    try withStand("max-requests-per-second = 10") { stand in
      let counts = try stand.on { client in
        for _ in 0..<15 { client.call("Nonsense") }
        var counts = [client.messages().count]
        for _ in 0..<10 {
          client.pass(.milliseconds(100))
          counts.append(client.messages().count)
        }
        return counts
      }
      #expect(counts == [10, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    }
  }

  @Test("another rate counts from then on, also for who is connected") func otherRate() throws {
    try withStand("max-requests-per-second = 10") { stand in
      let counts = try stand.on { client in
        for _ in 0..<15 { client.call("Nonsense") }
        var counts = [client.messages().count]
        client.assembly.reconfigure(try Configuration(parsing: "max-requests-per-second = 20"))
        for _ in 0..<4 {
          client.pass(.milliseconds(100))
          counts.append(client.messages().count)
        }
        return counts
      }
      #expect(counts == [10, 2, 2, 1, 0])
    }
  }

  @Test("what came in is wiped where it came in, whole frames and parts of one") func received() throws {
    try withStand { stand in
      let left = try stand.on { client in
        [
          client.send("{\"method\":\"io.vaultd.Vault.Status\"}\0"), client.send("{\"method\":\"a password"),
          client.send("\"}\0no frame\0"), client.send("what comes behind it"),
        ].map { buffer in buffer.readableBytesView.count { $0 != 0 } }
      }
      #expect(left == [0, 0, 0, 0])
    }
  }
}

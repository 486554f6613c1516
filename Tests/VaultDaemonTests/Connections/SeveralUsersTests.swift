import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("No user starves another", .enabled(if: Root.isAtHand, "needs root to be several users"))
struct SeveralUsersTests {
  private let one: UInt32 = 65533
  private let other: UInt32 = 65534

  /// Returns the text of a client that sends without pause over this many connections, and at the end prints the number
  /// of answers.
  private func flood(_ connections: Int, _ request: String = "frame(INFO)", reads: Bool = true) -> String {
    """
    count, load, selector = 0, \(request) * 64, selectors.DefaultSelector()
    for _ in range(\(connections)):
        client = connect()
        client.setblocking(False)
        selector.register(client, selectors.EVENT_WRITE | \(reads ? "selectors.EVENT_READ" : "0"), [0])
    selector.register(0, selectors.EVENT_READ)
    print("ready")
    while True:
        for key, events in selector.select():
            if key.fd == 0:
                print(count)
                sys.exit()
            if events & selectors.EVENT_WRITE:
                at = key.data[0]
                try: key.data[0] = (at + key.fileobj.send(load[at:])) % len(load)
                except BlockingIOError: pass
            if events & selectors.EVENT_READ:
                count += key.fileobj.recv(1 << 16).count(0)
    """
  }

  /// Returns the text of a client that makes this many calls, one after another, and prints the number of answers.
  private func ask(_ times: Int) -> String {
    "client = connect()\nprint(sum(call(client, INFO)['parameters']['product'] == 'vault' for _ in range(\(times))))"
  }

  @Test("one that asks without pause over a hundred connections leaves another its turns, and nothing of it is lost")
  func turns() throws {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let busy = try stand.guest(one, flood(100))
    #expect(try stand.run(other, ask(300)) == "300")
    let answered = try #require(Int(try busy.end()))
    // If all calls were answered in the order of arrival, each answer to the other user would wait behind thousands.
    #expect(answered > 0 && answered < 300 * 300, "\(answered)")
  }

  @Test("one that never reads costs no more than it may leave unread, and another is served")
  func unread() throws {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let deaf = try stand.guest(one, flood(200, "LONG", reads: false))
    let calm = try stand.sandbox.client()
    let uid = one
    var most = 0
    // This client is served as often as it asks; the others are cut off once they have not read for half a minute.
    func goOn() throws -> Bool {
      #expect(try calm.call("Status").error == nil)
      let left = try stand.on { $0.clients.share(of: uid).unreadBytes }
      most = max(most, left)
      return left > 0 || most == 0
    }
    while most < 15 << 20, try goOn() {}
    for _ in 0..<300 where try goOn() {}
    // Each connection may exceed the limit by one batch of replies; each alone could leave four batches unread.
    #expect(most < 2 * Room.unreadBytes)
    _ = try deaf.end()
    #expect(try stand.run(other, ask(1)) == "1")
  }

  @Test("the user that has most connections makes room, and its calls that wait are told whose they are")
  func connections() throws {
    let stand = try SeveralUsersStand("max-connections = 8")
    defer { stand.close() }
    let calm = try stand.guest(
      other,
      """
      clients = [connect() for _ in range(3)]
      for client in clients: call(client, INFO)
      print("ready")
      sys.stdin.read()
      print([call(client, INFO) is not None for client in clients].count(True))
      """)
    let told = try stand.run(
      one,
      """
      waiting = []
      for _ in range(40):
          client = connect()
          call(client, MONITOR, more=True)
          waiting.append(client)
      ended = [answer(client) for client in waiting[:35]]
      print(sorted({json.dumps(end) for end in ended}))
      print([call(connect(), INFO) is not None].count(True))
      """)
    #expect(
      told == """
        ['{"error": "io.vaultd.Vault.TooManyConnections", "parameters": {"uid": \(one), "limit": 8}}']
        1
        """)
    #expect(try calm.end() == "3")
  }

  @Test("one that sends too much is told so, and another's half of a frame is not lost") func pending() throws {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let half = try stand.guest(
      other,
      """
      client = connect()
      client.sendall(b'{"method":"org.varlink.service')
      print("ready")
      sys.stdin.read()
      client.sendall(b'.GetInfo"}\\0')
      print(answer(client)["parameters"]["product"])
      """)
    let told = try stand.run(
      one,
      """
      clients = [connect() for _ in range(20)]
      for client in clients:
          try: client.sendall(b" " * 1900000)
          except BrokenPipeError: pass
      ended = []
      for client in clients:
          try:
              client.shutdown(socket.SHUT_WR)
              ended.append(answer(client))
          except OSError: pass
      print({json.dumps(end) for end in ended if end})
      """)
    #expect(told == #"{'{"error": "io.vaultd.Vault.TooManyRequests", "parameters": {"uid": \#(one)}}'}"#)
    #expect(try half.end() == "vault")
  }

  @Test("a thousand that connect and vanish leave another's connection alone, and nothing behind") func vanishing()
    throws
  {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let calm = try stand.guest(
      other,
      """
      client = connect()
      print("ready")
      while not selectors.select.select([0], [], [], 0)[0]: call(client, INFO)
      print(call(client, INFO)["parameters"]["product"], call(connect(), INFO)["parameters"]["product"])
      """)
    #expect(
      try stand.run(
        one,
        """
        for _ in range(1000):
            client = connect()
            client.send(frame(INFO))
            client.close()
        call(connect(), INFO)
        print("done")
        """) == "done")
    #expect(try calm.end() == "vault vault")
    let uid = one
    // The loop notices the end of the last connections as it runs.
    var left = 1
    for _ in 0..<100_000 where left > 0 {
      left = try stand.on { $0.door.entrance.connections(of: uid).count }
    }
    #expect(left == 0)
  }
}

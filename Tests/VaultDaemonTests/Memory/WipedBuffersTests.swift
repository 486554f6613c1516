import Glibc
import NIOCore
import NIOPosix
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Buffers that carried a secret") struct WipedBuffersTests {
  private static let secret = [UInt8](repeating: 0xA5, count: 100)

  @Test("what was taken from the socket without the loop is wiped when it was lent") func incoming() throws {
    let (own, client) = try SocketPair.make()
    defer { close(client) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    let channel = try ClientBootstrap(group: group).channelOption(.autoRead, value: false).withConnectedSocket(own)
      .wait()
    let count = Self.secret.count
    #expect(unsafe write(client, Self.secret, count) == count)
    let seen = try channel.eventLoop.submit {
      let socket = ClientSocket(channel)
      var incoming = Incoming()
      var seen = [incoming.receive(from: socket)]
      for _ in 0..<2 {
        incoming.lend(count) { bytes in
          // A byte has no padding.
          seen.append((0..<count).count { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) != 0 })
        }
      }
      return seen
    }.wait()
    #expect(seen == [count, count, 0])
    try channel.close().wait()
  }
}

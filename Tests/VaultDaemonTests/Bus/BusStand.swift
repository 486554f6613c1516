import Logging
import NIOCore
import NIOPosix
import Testing

@testable import VaultDaemon
@testable import VaultService

/// A bus connection on a loop of its own, for a test on another thread.
final class BusStand: Sendable {
  let loop: any EventLoop
  let bus: NIOLoopBound<Bus>

  init(_ address: String) throws {
    loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let loop = loop
    let address = try #require(BusAddress(address))
    bus = try loop.submit {
      let watcher = try DescriptorWatcher(loop: loop)
      let bus = try Bus(
        "test", at: address, on: loop, watcher: watcher, clock: .system, log: Logger(label: "test"))
      bus.files.expect()
      bus.open()
      return NIOLoopBound(bus, eventLoop: loop)
    }.wait()
  }

  deinit {
    // The loop must still find its objects until it ends.
    loop.shutdownGracefully { [bus] _ in withExtendedLifetime(bus) {} }
  }

  /// Waits until the connection is up, or gone.
  func wait(connected: Bool) throws {
    let done = loop.makePromise(of: Void.self)
    loop.execute { [bus] in
      let bus = bus.value
      var over = false
      let check = {
        guard !over, bus.isConnected == connected else { return }
        over = true
        done.succeed()
      }
      bus.onChange(check)
      check()
    }
    try done.futureResult.wait()
  }

  /// Calls a method and reads its reply on the loop.
  func call<T: Sendable>(
    _ method: BusMethod, _ arguments: [BusValue] = [], limit: TimeAmount = .seconds(60),
    _ read: @escaping @Sendable (BusMessage) throws -> T
  ) throws -> T {
    let done = loop.makePromise(of: T.self)
    let (object, member) = (method.object, method.member)
    let destination = (object.destination, object.path, object.interface)
    let texts = arguments.map { if case .string(let text) = $0 { text } else { "" } }
    loop.execute { [bus] in
      let method = BusMethod.Object(
        destination: destination.0, path: destination.1, interface: destination.2
      ).method(member)
      bus.value.call(method, texts.map { .string($0) }, limit: limit) { result in
        done.completeWith(Result { try read(try result.get()) })
      }
    }
    return try done.futureResult.wait()
  }
}

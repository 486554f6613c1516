import Dispatch
import Foundation
import Glibc
import Logging
import NIOCore
import NIOPosix
import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// A daemon that serves ``Example`` objects on a private bus, and programs that call it.
final class ServingStand: Sendable {
  static let name = "vault.test.Example"

  /// The part of the stand that is used on the loop only.
  final class Inside {
    let bus: Bus
    let name: ServedName
    let peers: BusPeers
    let example: Example
    let objects: BusObjects

    init(_ loop: any EventLoop, _ address: String, _ limits: BusPeers.Limits, _ clock: Clock) throws {
      bus = try Bus(
        "test", at: BusAddress(address), on: loop, watcher: DescriptorWatcher(loop: loop), clock: .system,
        log: Logger(label: "test"))
      bus.files.expect()
      let clients = Clients(owner: geteuid(), clock: clock, openFiles: OpenFiles(limit: 1024), Configuration())
      let turns = Turns(on: loop, clock: clock)
      peers = BusPeers(on: bus, clients, turns, clock, by: .varlink, limits: limits)
      let example = Example()
      self.example = example
      objects = BusObjects(under: Example.root, on: bus, for: peers) { path throws(BusError) in try example.find(path) }
      example.objects = objects
      example.loop = loop
      name = ServedName(ServingStand.name, on: bus)
    }
  }

  let sandbox: Sandbox
  let real: PrivateBus
  let loop: any EventLoop
  let inside: NIOLoopBound<Inside>
  /// The lines that the objects note, and the states of the name.
  let lines = LoopLines()

  /// Starts a bus and a daemon on it.
  ///
  /// - Parameter clock: the clock by which the daemon shares its time.
  init(_ limits: BusPeers.Limits = BusPeers.Limits(), clock: Clock = .system) throws {
    sandbox = try Sandbox()
    real = try PrivateBus(.session, in: sandbox)
    loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let (loop, address, lines) = (loop, real.address, lines)
    inside = try loop.submit {
      let inside = try Inside(loop, address, limits, clock)
      inside.example.note = { lines.add($0) }
      inside.name.onChange = { [weak inside] in if let inside { lines.add("name: \(inside.name.state)") } }
      inside.name.request()
      inside.bus.open()
      return NIOLoopBound(inside, eventLoop: loop)
    }.wait()
    try expect("name: requested", "name: owned")
  }

  deinit {
    // A turn that is due must still find its objects.
    loop.shutdownGracefully { [inside] _ in withExtendedLifetime(inside) {} }
    sandbox.close()
  }

  /// Does something on the loop.
  func on<T: Sendable>(_ body: @escaping @Sendable (Inside) throws -> T) throws -> T {
    try loop.submit { [inside] in try body(inside.value) }.wait()
  }

  /// Expects these lines next.
  func expect(_ expected: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
    for line in expected { #expect(lines.next() == line, sourceLocation: sourceLocation) }
  }

  /// Keeps the loop from everything while `body` runs.
  func holdingLoop<T>(_ body: () throws -> T) throws -> T {
    let (held, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    loop.execute {
      held.signal()
      go.wait()
    }
    held.wait()
    defer { go.signal() }
    return try body()
  }

  /// Runs a program in Python and returns what it prints.
  ///
  /// `connect()` makes another connection to the bus; `call(bus, member, signature, values…)` calls an example object
  /// and returns the values, or the name of the error; `send` does not wait for the answer.
  func python(_ script: String) throws -> [String] {
    let outcome = try sandbox.run(
      "-c", Self.prelude.replacing("ADDRESS", with: real.address) + script, program: "/usr/bin/python3")
    guard outcome.status == 0 else { throw SandboxError("python3: \(outcome.errors)") }
    return outcome.output.split(separator: "\n").map(String.init)
  }

  private static let prelude = """
    import os, sys, time, dbus, dbus.bus, dbus.lowlevel, dbus.mainloop.glib
    from gi.repository import GLib
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    NAME, ROOT, PROPERTIES = '\(name)', '\(Example.root)', 'org.freedesktop.DBus.Properties'
    def connect(): return dbus.bus.BusConnection('ADDRESS')
    def call(bus, member, signature='', *values, path=ROOT, interface=NAME):
      try: return bus.call_blocking(NAME, path, interface, member, signature, values)
      except dbus.DBusException as error: return error.get_dbus_name()
    def send(bus, member, signature='', *values, then=None):
      message = dbus.lowlevel.MethodCallMessage(NAME, ROOT, NAME, member)
      message.append(signature=signature, *values)
      if then: bus.send_message_with_reply(message, then)
      else: bus.send_message(message)
    def driver(bus, member, *values):
      return bus.call_blocking('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', member, 's' * len(values), values)
    # The bus may answer in the round in which it takes a message, before it hands that on. The second answer is of a
    # later round.
    def flush(bus):
      for _ in range(2): driver(bus, 'GetId')

    """
}

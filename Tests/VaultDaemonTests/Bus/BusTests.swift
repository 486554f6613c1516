import Glibc
import Logging
import NIOCore
import NIOPosix
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The bus connection") struct BusTests {
  private let driver = BusMethod.Object(
    destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")

  @Test("a call gets its reply, its error, or the end of its time") func calls() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let real = try PrivateBus(.session, in: sandbox)
    let stand = try BusStand(real.address)
    try stand.wait(connected: true)
    let names = try stand.call(driver.method("ListNames")) { try $0.strings() }
    #expect(names.contains("org.freedesktop.DBus"))
    let unknown = #expect(throws: BusError.self) {
      try stand.call(driver.method("GetNameOwner"), [.string("no.such.name")]) { try $0.string() }
    }
    #expect(unknown?.isNoService == true)
    #expect(throws: BusError.malformed) { try stand.call(driver.method("GetId")) { try $0.flag() } }
    // A stopped service never replies.
    let service = try real.mock("vault.test.Silent", ["vault.test.Silent", "/", "vault.test.Silent"])
    service.pause()
    let silent = BusMethod.Object(destination: "vault.test.Silent", path: "/", interface: "vault.test.Silent")
    let late = #expect(throws: BusError.self) {
      try stand.call(silent.method("Hello"), limit: .seconds(1)) { try $0.string() }
    }
    #expect(late?.name == "org.freedesktop.DBus.Error.NoReply")
    // A call to a service that dies ends at once.
    service.stop()
    #expect(throws: BusError.self) { try stand.call(silent.method("Hello")) { try $0.string() } }
  }

  @Test("a call that waits for its answer ends when the bus goes") func waiting() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let real = try PrivateBus(.session, in: sandbox)
    let stand = try BusStand(real.address)
    try stand.wait(connected: true)
    let name = "vault.test.Silent"
    try real.mock(name, [name, "/", name]).pause()
    let done = stand.loop.makePromise(of: Void.self)
    stand.loop.execute { [bus = stand.bus] in
      let silent = BusMethod.Object(destination: name, path: "/", interface: name)
      bus.value.call(silent.method("Hello"), limit: .hours(1)) { result in
        done.completeWith(Result { _ = try result.get() })
      }
    }
    // A limit, so that the test never waits for ever.
    stand.loop.scheduleTask(in: .seconds(60)) { done.fail(SandboxError("waited in vain")) }
    // Once this call is answered, the first call is on its way.
    _ = try stand.call(driver.method("GetId")) { try $0.string() }
    real.stop()
    #expect(throws: BusError.disconnected) { try done.futureResult.wait() }
  }

  @Test("a call before the bus has answered the greeting waits for it, and no longer than it may") func early() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let real = try PrivateBus(.session, in: sandbox)
    let method = driver.method("GetId")
    let stand = try BusStand(real.address)
    func callAtOnce(_ address: String, limit: TimeAmount) throws -> String {
      let done = stand.loop.makePromise(of: String.self)
      let (object, member) = ([driver.destination, driver.path, driver.interface], method.member)
      try stand.loop.submit { [loop = stand.loop] in
        let bus = try Bus(
          "test", at: BusAddress(address), on: loop, watcher: DescriptorWatcher(loop: loop), clock: .system,
          log: Logger(label: "test"))
        bus.open()
        let target = BusMethod.Object(destination: object[0], path: object[1], interface: object[2])
        bus.call(target.method(member), limit: limit) { result in
          done.completeWith(Result { try withExtendedLifetime(bus) { try result.get().string() } })
        }
      }.wait()
      return try done.futureResult.wait()
    }
    #expect(try callAtOnce(real.address, limit: .seconds(60)).count == 32)
    // A bus that accepts the connection and sends nothing.
    let silent = try ListeningSocket.bound(to: sandbox.runtime + "/silent")
    defer { close(silent.descriptor) }
    #expect(throws: BusError.disconnected) {
      try callAtOnce("unix:path=\(sandbox.runtime)/silent", limit: .milliseconds(50))
    }
  }

  @Test("a bus that comes later, goes, crashes and comes again is found each time") func reconnects() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let stand = try BusStand("unix:path=\(sandbox.runtime)/bus")
    #expect(throws: BusError.disconnected) { try stand.call(driver.method("GetId")) { try $0.string() } }
    let real = try PrivateBus(.session, in: sandbox)
    try stand.wait(connected: true)
    real.stop()
    try stand.wait(connected: false)
    try real.start()
    try stand.wait(connected: true)
    real.crash()
    try stand.wait(connected: false)
    try real.start()
    try stand.wait(connected: true)
    #expect(try stand.call(driver.method("GetId")) { try $0.string() }.count == 32)
  }

  @Test("only the owner of a name is believed, also past the bus's own filter") func owners() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let real = try PrivateBus(.session, in: sandbox)
    let stand = try BusStand(real.address)
    try stand.wait(connected: true)
    let (name, path) = ("vault.test.Owner", "/owner")
    let heard = LoopLines()
    let subject = try stand.loop.submit { [bus = stand.bus, loop = stand.loop] in
      let subject = BusName(name, on: bus.value)
      subject.onChange = { heard.add(subject.owner == nil ? "gone" : "there") }
      subject.onSignal(name, "Said") { message in heard.add((try? message.string()) ?? "no text") }
      return NIOLoopBound(subject, eventLoop: loop)
    }.wait()
    let service = try real.mock(name, [name, path, name])
    #expect(heard.next() == "there")
    for pid in [nil, getpid()] {
      try real.forge(path, name, "Said", ["'forged'"], to: pid)
      try real.forge(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", ["'\(name)'", "':1.1'", "''"], to: pid)
    }
    try real.emit(name, path, name, "Said", "s", "real")
    #expect(heard.next() == "real")
    service.stop()
    #expect(heard.next() == "gone")
    withExtendedLifetime(subject) {}
  }

  @Test("an address is where a Unix socket is, and nothing that would start a program") func addresses() {
    #expect(BusAddress("unixexec:path=/bin/sh") == nil)
    #expect(BusAddress("autolaunch:;unix:abstract=/tmp/x,guid=1;tcp:host=a")?.text == "unix:abstract=/tmp/x,guid=1")
    #expect(BusAddress.system { _ in nil }?.text == "unix:path=/run/dbus/system_bus_socket")
    #expect(BusAddress.session { _ in nil } == nil)
    let runtime = BusAddress.session { $0 == "XDG_RUNTIME_DIR" ? "/run/a b" : nil }
    #expect(runtime?.text == "unix:path=/run/a%20b/bus")
  }
}

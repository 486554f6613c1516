import Glibc
import NIOCore
import Testing
import VaultTesting

@testable import VaultDaemon

@Suite("The name of a daemon on a bus") struct ServedNameTests {
  @Test("a name that another owns is not taken, not even when it leaves") func taken() throws {
    let stand = try ServingStand()
    let lines = LoopLines()
    let other = try BusStand(stand.real.address)
    try other.wait(connected: true)
    let name = ServingStand.name
    let second = try other.loop.submit { [bus = other.bus, loop = other.loop] in
      let served = ServedName(name, on: bus.value)
      served.onChange = { [weak served] in if let served { lines.add("\(served.state)") } }
      served.request()
      return NIOLoopBound(served, eventLoop: loop)
    }.wait()
    #expect(lines.next() == "requested")
    #expect(lines.next() == "taken")
    try stand.on { $0.name.release() }
    try stand.expect("name: none")
    let driver = BusMethod.Object.driver
    let owned = { try other.call(driver.method("NameHasOwner"), [.string(name)]) { try $0.flag() } }
    while try owned() {}
    // Only a second request gets it.
    try other.loop.submit { second.value.request() }.wait()
    #expect(lines.next() == "requested")
    #expect(lines.next() == "owned")
    #expect(try owned())
    try stand.on { $0.name.request() }
    try stand.expect("name: requested", "name: taken")
  }

  @Test("a name that the bus takes back is lost") func lost() throws {
    let stand = try ServingStand()
    let name = ServingStand.name
    try stand.on { inside in
      inside.bus.call(BusMethod.Object.driver.method("ReleaseName"), [.string(name)]) { _ in }
    }
    try stand.expect("name: lost")
    // Nobody but the bus is believed.
    try stand.on { $0.name.request() }
    try stand.expect("name: requested", "name: owned")
    try stand.real.forge(
      "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameLost", ["'\(name)'"], to: getpid())
    #expect(try stand.python("print(call(connect(), 'Note', 's', 'still here'))") == ["None"])
    try stand.expect("note: still here")
  }

  @Test("a bus that refuses the name says so, and is asked again") func refused() throws {
    let stand = try ServingStand()
    try stand.on { $0.name.release() }
    try stand.expect("name: none")
    try stand.real.refuse("RequestName")
    try stand.on { $0.name.request() }
    try stand.expect("name: requested")
    #expect(stand.lines.next()?.hasPrefix("name: refused") == true)
    // It is asked again a second later.
    try stand.real.refuse(nil)
    try stand.expect("name: owned")
  }

  @Test("a bus that comes back gets the name and the objects anew") func restarted() throws {
    let stand = try ServingStand()
    for text in ["one", "two", "three"] {
      #expect(try stand.python("print(call(connect(), 'Note', 's', '\(text)'))") == ["None"])
      try stand.expect("note: \(text)")
      stand.real.crash()
      try stand.expect("name: none")
      try stand.real.start()
      try stand.expect("name: requested", "name: owned")
    }
  }
}

import Foundation
import NIOCore
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Asking fprintd") struct FingerprintReaderTests {
  private static let service = "net.reactivated.Fprint"

  /// Makes a mock of fprintd; `readers` are the Python bodies of ListEnrolledFingers, one for each reader.
  @discardableResult
  private func fprintd(_ bus: PrivateBus, readers: [String]) throws -> PrivateBus.Service {
    let service = Self.service
    let manager = "/net/reactivated/Fprint/Manager"
    let mocked = try bus.mock(service, [service, manager, service + ".Manager"])
    let mock = "org.freedesktop.DBus.Mock"
    for (index, code) in readers.enumerated() {
      let path = "/net/reactivated/Fprint/Device/\(index)"
      try bus.call(service, manager, mock, "AddObject", "ssa{sv}a(ssss)", path, service + ".Device", "0", "0")
      try bus.call(
        service, path, mock, "AddMethod", "sssss", service + ".Device", "ListEnrolledFingers", "s", "as", code)
    }
    let paths = readers.indices.map { "'/net/reactivated/Fprint/Device/\($0)'" }.joined(separator: ", ")
    try bus.call(
      service, manager, mock, "AddMethod", "sssss", service + ".Manager", "GetDevices", "", "ao", "ret = [\(paths)]")
    return mocked
  }

  private func refusal(_ name: String) -> String {
    "raise dbus.exceptions.DBusException('because', name='\(Self.service).Error.\(name)')"
  }

  private func ask(_ stand: BusStand, _ user: String = "ana") throws -> Fingers {
    let done = stand.loop.makePromise(of: Fingers.self)
    stand.loop.execute { [bus = stand.bus] in FingerprintReader.ask(bus.value, for: user) { done.succeed($0) } }
    return try done.futureResult.wait()
  }

  private func stand(_ bus: PrivateBus) throws -> BusStand {
    let stand = try BusStand(bus.address)
    try stand.wait(connected: true)
    return stand
  }

  @Test("the fingers of all readers come sorted, for the user that was named") func fingers() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.system, in: sandbox)
    let named = "ret = ['right-thumb', 'left-thumb'] if args[0] == 'ana' else ['%s' % args[0]]"
    try fprintd(bus, readers: [named, refusal("NoEnrolledPrints"), "ret = ['left-thumb', 'left-index-finger']"])
    let answer = try ask(stand(bus))
    #expect(answer == .fingers(["left-index-finger", "left-thumb", "right-thumb"]))
    #expect(answer.obstacle == nil)
  }

  @Test("why there is no finger is told apart") func reasons() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.system, in: sandbox)
    let stand = try stand(bus)
    #expect(try ask(stand) == .noService)
    for (readers, expected): ([String], Fingers) in [
      ([], .noReader), ([refusal("NoEnrolledPrints")], .noEnrolledFinger),
      ([refusal("PermissionDenied"), refusal("NoEnrolledPrints")], .unknown("because")),
    ] {
      let service = try fprintd(bus, readers: readers)
      let answer = try ask(stand)
      #expect(answer == expected)
      #expect(answer.obstacle?.reason.isEmpty == false)
      service.stop()
    }
    bus.stop()
    try stand.wait(connected: false)
    #expect(try ask(stand) == .noBus)
  }

  @Test("one that says nothing is not waited for longer than five seconds") func silent() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.system, in: sandbox)
    let stand = try stand(bus)
    try fprintd(bus, readers: ["ret = []"]).pause()
    let start = ContinuousClock.now
    guard case .unknown = try ask(stand) else {
      Issue.record("it answered")
      return
    }
    #expect(ContinuousClock.now - start >= .seconds(5))
  }

  @Test("a real fprintd says that there is no reader, or no finger", arguments: [false, true])
  func real(hasReader: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.system, in: sandbox)
    let polkit = "org.freedesktop.PolicyKit1"
    try bus.mock(polkit, ["--template", "polkitd"])
    try bus.call(
      polkit, "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.DBus.Mock", "AllowUnknown", "b", "true")
    let reader = hasReader ? ["FP_VIRTUAL_DEVICE=\(sandbox.root)/reader"] : []
    let variables = ["DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", "STATE_DIRECTORY=\(sandbox.home)"] + reader
    let script = "\(variables.joined(separator: " ")) /usr/libexec/fprintd --no-timeout >/dev/null 2>&1 &"
    try sandbox.run("-c", script, program: "/bin/sh")
    let stand = try stand(bus)
    var answer = Fingers.noService
    // Ask until fprintd has its name on the bus.
    while answer == .noService { answer = try ask(stand, "root") }
    #expect(answer == (hasReader ? .noEnrolledFinger : .noReader))
  }
}

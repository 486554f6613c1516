import Glibc
import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("What a bus tells about a connection") struct BusCredentialsTests {
  /// A program that tells of a process in the words of a newer bus.
  private static let teller = """
    import os, dbus, dbus.service, dbus.mainloop.glib
    from gi.repository import GLib
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    class Teller(dbus.service.Object):
      @dbus.service.method('vault.test.Teller', in_signature='s', out_signature='a{sv}')
      def Tell(self, what):
        pid = os.getpid()
        if what == 'ended':
          pid = os.fork()
          if not pid: os._exit(0)
        facts = {'UnixUserID': dbus.UInt32(os.getuid()), 'ProcessID': dbus.UInt32(pid), 'Other': 'x'}
        if what == 'none': return facts
        held = os.open('/dev/null', os.O_RDONLY) if what == 'file' else os.pidfd_open(1 if what == 'other' else pid)
        if what == 'ended': os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        facts['ProcessFD'] = dbus.types.UnixFd(held)
        os.close(held)
        return facts
    bus = dbus.SessionBus()
    teller = Teller(bus, '/')
    name = dbus.service.BusName('vault.test.Teller', bus)
    GLib.MainLoop().run()
    """

  @Test(
    "a hold on the process is used where the bus gives one, and must be of that process",
    arguments: [("none", "known"), ("own", "held, known"), ("ended", "held"), ("other", "error"), ("file", "error")])
  func hold(what: String, expected: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let real = try PrivateBus(.session, in: sandbox)
    try real.program("vault.test.Teller", "/usr/bin/python3", ["-c", Self.teller])
    let stand = try BusStand(real.address)
    try stand.wait(connected: true)
    let method = BusMethod.Object(destination: "vault.test.Teller", path: "/", interface: "vault.test.Teller")
    let told = try stand.call(method.method("Tell"), [.string(what)]) { message in
      guard let read = try? BusCredentials(message) else { return "error" }
      let clients = Clients(
        owner: geteuid(), clock: .system, openFiles: OpenFiles(limit: 1024), Configuration())
      let caller = read.caller(by: .secretService, acceptedAs: 1, among: clients)
      return [read.process.map { _ in "held" }, caller.map { _ in "known" }].compactMap(\.self)
        .joined(separator: ", ")
    }
    #expect(told == expected)
  }
}

import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

/// The notification face with a python3-dbus server that behaves as each test needs, on a bus of its own.
@Suite struct NotificationFaceTests {
  private let sandbox: Sandbox
  private let bus: PrivateBus

  init() throws {
    sandbox = try Sandbox()
    bus = try PrivateBus(.session, in: sandbox)
  }

  private static let service = "org.freedesktop.Notifications"

  /// - Parameters:
  ///   - onNotify: Python code that the server runs once it has answered `Notify`; `me` is the object, `n` the number,
  ///     `other` another connection.
  ///   - number: the number that the server gives to a notification.
  ///   - onShown: Python code that the server runs before it answers `Notify`.
  private func server(
    _ capabilities: String, _ onNotify: String, number: Int = 7, onShown: String = "pass"
  ) throws -> PrivateBus.Service {
    let script = """
      import dbus, dbus.service, dbus.lowlevel, dbus.mainloop.glib, os, sys, time
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      name = '\(Self.service)'
      bus = dbus.bus.BusConnection('\(bus.address)')
      other = dbus.bus.BusConnection('\(bus.address)')
      def forge(member, signature, *values):
        message = dbus.lowlevel.SignalMessage('/org/freedesktop/Notifications', name, member)
        message.set_destination(me.client)
        message.append(*values, signature=signature)
        other.send_message(message)
        other.flush()
      class Server(dbus.service.Object):
        @dbus.service.method(name, in_signature='', out_signature='as')
        def GetCapabilities(self): return \(capabilities)
        @dbus.service.method(name, in_signature='susssasa{sv}i', out_signature='u', sender_keyword='sender')
        def Notify(self, app, replaces, icon, summary, body, actions, hints, expire, sender=None):
          print('NOTIFY', summary, '|', body.replace(chr(10), '/'), '|', list(map(str, actions)), flush=True)
          self.client = sender
          \(onShown)
          GLib.idle_add(self.act)
          return \(number)
        @dbus.service.method(name, in_signature='u', out_signature='')
        def CloseNotification(self, n): print('CLOSE', n, flush=True)
        @dbus.service.signal(name, signature='us')
        def ActionInvoked(self, n, key): pass
        @dbus.service.signal(name, signature='uu')
        def NotificationClosed(self, n, reason): pass
        def act(self):
          n = 7
          \(onNotify)
      me = Server(bus, '/org/freedesktop/Notifications')
      claimed = dbus.service.BusName(name, bus)
      GLib.MainLoop().run()
      """
    return try bus.program(Self.service, "/usr/bin/python3", ["-c", script])
  }

  private func ask(_ kind: Question.Kind = .approval(session: true)) throws -> String {
    try word(NotificationFace(busAt: bus.address).ask(.sample(kind), until: Withdrawal()))
  }

  @Test(arguments: ["once", "session", "always"])
  func `a button is the answer`(key: String) throws {
    let server = try server("['actions']", "me.ActionInvoked(n, '\(key)')")
    #expect(try ask() == key)
    #expect(
      server.log.contains("['once', 'Allow once', 'session', 'For this process', 'always', 'Always', 'deny', 'Deny']"))
  }

  @Test func `what names another notification, button or sender is no answer`() throws {
    _ = try server(
      "['actions']",
      "forge('ActionInvoked', 'us', 7, 'always'); forge('NotificationClosed', 'uu', 7, 2); "
        + "other.call_blocking('org.freedesktop.DBus', '/', 'org.freedesktop.DBus', 'GetId', '', ()); "
        + "me.ActionInvoked(8, 'always'); me.ActionInvoked(n, 'session'); me.NotificationClosed(6, 2); "
        + "me.ActionInvoked(n, 'deny')")
    #expect(try ask(.approval(session: false)) == "no")
  }

  @Test func `text is escaped where the server reads markup`() throws {
    let server = try server("['actions', 'body-markup']", "me.ActionInvoked(n, 'yes')")
    #expect(try ask(.choice) == "yes")
    #expect(
      server.log.contains(
        "| user:1000 &amp; &lt;b&gt;others&lt;/b&gt;/It says: “&lt;b&gt;please&lt;/b&gt; &amp; &#39;now&#39;” |"))
  }

  @Test func `text is left as it is where the server reads no markup`() throws {
    let server = try server("['actions']", "me.ActionInvoked(n, 'no')")
    #expect(try ask(.choice) == "no")
    #expect(server.log.contains("| user:1000 & <b>others</b>/"))
  }

  @Test func `a server without buttons is left to the next face, and shows nothing`() throws {
    let server = try server("['body']", "pass")
    #expect(throws: FaceError.unsuitable) { try ask() }
    #expect(!server.log.contains("NOTIFY"))
  }

  @Test func `a finger that no button could put off is left to the next face`() throws {
    let server = try server("['body']", "pass")
    let face = NotificationFace(busAt: bus.address)
    #expect(throws: FaceError.unsuitable) { try face.show(.sample(.presence), dismissed: Withdrawal()) }
    #expect(!server.log.contains("NOTIFY"))
  }

  @Test(arguments: [Question.Kind.secret, .visible])
  func `what is typed is left to the next face`(kind: Question.Kind) throws {
    let server = try server("['actions']", "pass")
    #expect(throws: FaceError.unsuitable) { try ask(kind) }
    #expect(!server.log.contains("NOTIFY"))
  }

  @Test func `a person's hand dismisses, and nothing else does`() throws {
    let server = try server("['actions']", "me.NotificationClosed(n, 2)")
    #expect(try ask() == "dismissed")
    server.stop()
    _ = try self.server("['actions']", "me.NotificationClosed(n, 1)")
    #expect(throws: (any Error).self) { try ask() }
  }

  @Test func `a server that vanishes is unavailable`() throws {
    _ = try server("['actions']", "os._exit(0)")
    #expect(throws: FaceError.unavailable("the notification server went away")) { try ask() }
  }

  @Test func `a notification has a number`() throws {
    let server = try server("['actions']", "me.ActionInvoked(0, 'once')", number: 0)
    #expect(throws: FaceError.unavailable("the notification server's answer is not understood")) { try ask() }
    #expect(server.log.contains("NOTIFY"))
  }

  @Test func `a server that gives its name to another one is believed no more`() throws {
    _ = try server(
      "['actions']",
      "bus.release_name(name); other.request_name(name); forge('ActionInvoked', 'us', 7, 'always')")
    #expect(throws: FaceError.unavailable("the notification server went away")) { try ask() }
  }

  @Test func `a flood of signals delays neither the answer nor a withdrawal`() throws {
    let flood =
      "[me.ActionInvoked(k % 9, 'none') for k in range(3000)]; [me.NotificationClosed(6, 2) for k in range(3000)]"
    let first = try server("['actions']", flood + "; me.ActionInvoked(n, 'session')")
    #expect(try ask() == "session")
    first.stop()
    // This server floods without end.
    let server = try server("['actions']", "me.ActionInvoked(6, 'once'); return True")
    let withdrawal = try Withdrawal()
    let thread = try #require(
      WorkThread {
        while !server.log.contains("NOTIFY") {}
        withdrawal.raise()
      })
    #expect(throws: FaceError.withdrawn) {
      try word(NotificationFace(busAt: bus.address).ask(.sample(.choice), until: withdrawal))
    }
    thread.join()
  }

  @Test func `a notification that is withdrawn before the server has given its number is closed`() throws {
    let withdrawn = sandbox.home + "/withdrawn"
    let server = try server(
      "['actions']", "pass", onShown: "[time.sleep(0.01) for k in range(3000) if not os.path.exists('\(withdrawn)')]")
    let withdrawal = try Withdrawal()
    let thread = try #require(
      WorkThread {
        while !server.log.contains("NOTIFY") {}
        withdrawal.raise()
        try? Data().write(to: URL(filePath: withdrawn))
      })
    #expect(throws: FaceError.withdrawn) {
      try word(NotificationFace(busAt: bus.address).ask(.sample(.choice), until: withdrawal))
    }
    thread.join()
    try wait(for: "the end of the notification") { server.log.contains("CLOSE 7") }
  }

  @Test func `no server at all is unavailable`() throws {
    #expect(throws: FaceError.unavailable("nothing shows notifications")) { try ask() }
  }

  @Test func `a presence that is not wanted now raises its sign`() throws {
    _ = try server("['actions']", "me.ActionInvoked(n, 'not-now')")
    let (face, dismissed) = (NotificationFace(busAt: bus.address), try Withdrawal())
    try face.show(.sample(.presence), dismissed: dismissed)
    var polled = pollfd(fd: dismissed.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&polled, 1, 30_000) == 1)
    face.clear()
  }
}

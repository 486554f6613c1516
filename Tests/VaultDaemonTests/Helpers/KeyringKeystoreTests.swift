import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("The keyring keystore") struct KeyringKeystoreTests {
  @Test("a key is kept by the other keyring, found there again, and removed") func roundTrip() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let keyring = try OtherKeyring(in: sandbox, on: bus)
    let stand = try KeystoreStand(sandbox)
    let keys = [KeystoreStand.newKey(), KeystoreStand.newKey()]
    let locators = try keys.map { try stand.store($0, in: .keyring) }
    #expect(try keyring.count() == 2)
    #expect(try locators.map { try stand.fetch($0, from: .keyring) } == keys)
    // A keystore gives a key only for its own vault.
    let other = [UInt8](repeating: 1, count: 16)
    #expect(KeystoreStand.error { try stand.fetch(locators[0], from: .keyring, vault: other) }?.code == .notFound)
    try stand.remove(locators[0], from: .keyring)
    #expect(try keyring.count() == 1)
    #expect(
      KeystoreStand.error { try stand.fetch(locators[0], from: .keyring) }
        == KeystoreError(.notFound, "the keyring has no such key"))
    #expect(try stand.fetch(locators[1], from: .keyring) == keys[1])
    try stand.remove(locators[0], from: .keyring)
  }

  @Test("whoever looks into the other keyring finds what the key is for, and of which vault") func description() throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let keyring = try OtherKeyring(in: sandbox, on: bus)
    let locator = try KeystoreStand(sandbox).store(KeystoreStand.newKey(), in: .keyring)
    let said = try keyring.description()
    #expect(said.hasPrefix("s \"vault presence key\"\na{ss} 3 "), "\(said)")
    let vault = KeystoreStand.vault.map { String($0, radix: 16) }.joined()
    let key = String(decoding: locator, as: UTF8.self)
    for attribute in [
      "\"xdg:schema\" \"io.vaultd.PresenceKey\"", "\"vault\" \"\(vault)\"", "\"key\" \"\(key)\"",
    ] {
      #expect(said.contains(attribute), "\(attribute) is not in \(said)")
    }
  }

  @Test("a locked keyring is unavailable, and nobody is prompted") func locked() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let keyring = try OtherKeyring(in: sandbox, on: bus)
    let stand = try KeystoreStand(sandbox)
    let locator = try stand.store(KeystoreStand.newKey(), in: .keyring)
    try keyring.lock()
    let locked = KeystoreError(.unavailable, "the keyring is locked")
    #expect(KeystoreStand.error { try stand.fetch(locator, from: .keyring) } == locked)
    #expect(KeystoreStand.error { try stand.store(KeystoreStand.newKey(), in: .keyring) } == locked)
    #expect(KeystoreStand.error { try stand.remove(locator, from: .keyring) } == locked)
    #expect(try keyring.count() == 1)
  }

  @Test("without a keyring on the bus, and without a bus, it says which is missing") func none() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let stand = try KeystoreStand(sandbox)
    let noBus = KeystoreStand.error { try stand.store(KeystoreStand.newKey(), in: .keyring) }
    #expect(noBus?.code == .unavailable)
    #expect(noBus?.reason.hasPrefix("there is no session bus") == true, "\(String(describing: noBus))")
    _ = try PrivateBus(.session, in: sandbox)
    let nobody = KeystoreStand.error { try stand.store(KeystoreStand.newKey(), in: .keyring) }
    #expect(nobody?.code == .unavailable)
    #expect(
      nobody?.reason.hasPrefix("no keyring answers at org.freedesktop.secrets on the session bus") == true,
      "\(String(describing: nobody))")
  }

  @Test("a locator that is no key's id is refused before the keyring is asked") func locators() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try OtherKeyring(in: sandbox, on: try PrivateBus(.session, in: sandbox))
    let stand = try KeystoreStand(sandbox)
    for locator in [[], Array("0123".utf8), [UInt8](repeating: 0x2F, count: 32)] {
      #expect(KeystoreStand.error { try stand.fetch(locator, from: .keyring) }?.code == .damaged)
    }
  }

  /// A program that forwards calls to another bus name to the keyring, as a second provider. It can be told to give up
  /// the name at the first call, before the reply, to an heir that never replies; or to refuse every deletion.
  private static let relay = """
    import sys, dbus, dbus.bus, dbus.lowlevel
    from dbus.mainloop.glib import DBusGMainLoop
    from gi.repository import GLib
    DBusGMainLoop(set_as_default=True)
    bus = dbus.bus.BusConnection(sys.argv[1])
    heir = dbus.bus.BusConnection(sys.argv[1]) if sys.argv[2:] == ['gives-up'] else None
    def passed(connection, message):
      global heir
      if message.get_type() != 1 or not message.get_path().startswith('/org/freedesktop/secrets'):
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
      if heir:
        gone = dbus.lowlevel.MethodCallMessage(
          'org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'ReleaseName')
        gone.append('org.example.Keys')
        kept.append(heir)
        heir = None
        connection.send_message(gone)
      if sys.argv[2:] == ['keeps'] and message.get_member() == 'Delete':
        connection.send_message(dbus.lowlevel.ErrorMessage(message, 'org.example.Kept', 'it stays'))
        return dbus.lowlevel.HANDLER_RESULT_HANDLED
      copy = dbus.lowlevel.MethodCallMessage(
        'org.freedesktop.secrets', message.get_path(), message.get_interface(), message.get_member())
      copy.append(*message.get_args_list(), signature=message.get_signature())
      def answer(reply):
        if reply.get_type() == 3:
          back = dbus.lowlevel.ErrorMessage(message, reply.get_error_name(), str(reply.get_args_list()[0]))
        else:
          back = dbus.lowlevel.MethodReturnMessage(message)
          back.append(*reply.get_args_list(), signature=reply.get_signature())
        connection.send_message(back)
      connection.send_message_with_reply(copy, answer, 10.0)
      return dbus.lowlevel.HANDLER_RESULT_HANDLED
    kept = []
    bus.add_message_filter(passed)
    bus.request_name('org.example.Keys')
    if heir: heir.request_name('org.example.Keys')
    GLib.MainLoop().run()
    """

  @Test("the settings and libsecret's variable lead to a keyring under another name", arguments: [true, false])
  func otherName(_ bySetting: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let keyring = try OtherKeyring(in: sandbox, on: bus)
    let relay = try bus.program("org.example.Keys", "/usr/bin/python3", ["-c", Self.relay, bus.address])
    let stand =
      bySetting
      ? try KeystoreStand(sandbox, "keyring-bus-name = org.example.Keys")
      : try KeystoreStand(sandbox, environment: ["SECRET_SERVICE_BUS_NAME": "org.example.Keys"])
    let key = KeystoreStand.newKey()
    let locator = try stand.store(key, in: .keyring)
    #expect(try keyring.count() == 1)
    #expect(try stand.fetch(locator, from: .keyring) == key)
    relay.stop()
    let gone = KeystoreStand.error { try stand.fetch(locator, from: .keyring) }
    #expect(gone?.reason.hasPrefix("no keyring answers at org.example.Keys") == true, "\(String(describing: gone))")
  }

  @Test("the keyring that was looked at is the one that gets the key, whoever has its name by then")
  func handedOver() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let keyring = try OtherKeyring(in: sandbox, on: bus)
    _ = try bus.program("org.example.Keys", "/usr/bin/python3", ["-c", Self.relay, bus.address, "gives-up"])
    let stand = try KeystoreStand(sandbox, "keyring-bus-name = org.example.Keys")
    _ = try stand.store(KeystoreStand.newKey(), in: .keyring)
    #expect(try keyring.count() == 1)
    // The next call reaches the heir.
    #expect(KeystoreStand.error { try stand.store(KeystoreStand.newKey(), in: .keyring) }?.code == .unavailable)
    #expect(try keyring.count() == 1)
  }

  @Test("a key that the other keyring does not remove is not said to be gone") func kept() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let keyring = try OtherKeyring(in: sandbox, on: bus)
    _ = try bus.program("org.example.Keys", "/usr/bin/python3", ["-c", Self.relay, bus.address, "keeps"])
    let stand = try KeystoreStand(sandbox, "keyring-bus-name = org.example.Keys")
    let locator = try stand.store(KeystoreStand.newKey(), in: .keyring)
    let kept = KeystoreStand.error { try stand.remove(locator, from: .keyring) }
    #expect(kept?.code == .unavailable)
    #expect(kept?.reason.hasPrefix("the keyring does not remove the key: ") == true, "\(String(describing: kept))")
    #expect(try keyring.count() == 1)
  }

  @Test("a keyring that does not answer costs its time limit and no more") func silent() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let silent = """
      import sys, dbus.bus, signal
      bus = dbus.bus.BusConnection(sys.argv[1])
      bus.request_name('org.freedesktop.secrets')
      signal.pause()
      """
    _ = try bus.program("org.freedesktop.secrets", "/usr/bin/python3", ["-c", silent, bus.address])
    let stand = try KeystoreStand(sandbox)
    let locator = Array("0123456789abcdef0123456789abcdef".utf8)
    #expect(
      KeystoreStand.error { try stand.ask("vault-keyring", locator, within: 1) }
        == KeystoreError(.unavailable, "vault-keyring did not answer within 1 s"))
  }

  @Test("a daemon that is the keyring itself is refused") func ourselves() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let locator = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    // The helper's parent owns the name, as a vaultd that serves org.freedesktop.secrets does.
    let script = """
      import dbus.bus, socket, subprocess
      bus = dbus.bus.BusConnection('\(bus.address)')
      bus.request_name('org.freedesktop.secrets')
      ours, theirs = socket.socketpair()
      child = subprocess.Popen(['\(Sandbox.path(of: "vault-keyring"))'], stdin=theirs)
      theirs.close()
      ours.sendall(b'{"operation":"fetch","vault":"","place":"","locator":"\(locator)"}\\0')
      print(ours.recv(4096).decode().strip('\\0'), child.wait())
      """
    let outcome = try sandbox.run(
      ["-c", script], program: "/usr/bin/python3", environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    #expect(
      outcome.output == """
        {"error":"refused","reason":"the keyring at org.freedesktop.secrets is this vault itself; \
        name another with keyring-bus-name"} 0\n
        """, "\(outcome)")
  }
}

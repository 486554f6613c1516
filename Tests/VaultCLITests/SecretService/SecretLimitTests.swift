import Foundation
import Testing
import VaultTesting

/// The limits of the Secret Service, over a real bus.
@Suite("The limits of the Secret Service") struct SecretLimitTests {
  private static let prelude = """
    import os, sys, dbus, dbus.bus
    from gi.repository import Gio, GLib
    NAME, ROOT = 'org.freedesktop.secrets', '/org/freedesktop/secrets'
    ADDRESS = os.environ['DBUS_SESSION_BUS_ADDRESS']
    def connect(): return dbus.bus.BusConnection(ADDRESS)
    def call(bus, path, member, signature='', *values, interface='Service'):
      try: return bus.call_blocking(NAME, path, 'org.freedesktop.Secret.' + interface, member, signature, values,
        timeout=60, byte_arrays=True)
      except dbus.DBusException as error: return error.get_dbus_name().split('.')[-1]
    def open_session(bus): return call(bus, ROOT, 'OpenSession', 'sv', 'plain', '')
    def create(bus, session, value, replace=False, content='text/plain', **attributes):
      properties = {'org.freedesktop.Secret.Item.Attributes':
        dbus.Dictionary(attributes, signature='ss', variant_level=1)}
      secret = dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(value), content), signature='oayays')
      return call(bus, ROOT + '/collection/login', 'CreateItem', 'a{sv}(oayays)b',
        dbus.Dictionary(properties, signature='sv'), secret, replace, interface='Collection')
    # Runs in another process, which waits at its end.
    def process(body, isAwaited=True):
      first, second = os.pipe(), os.pipe()
      if not os.fork():
        kept = body()
        os.write(second[1], b'x')
        os.read(first[0], 1)
        os._exit(0)
      if isAwaited: os.read(second[0], 1)
      return lambda: (os.write(first[1], b'x'), os.wait())

    """

  @Test("one process with all sessions keeps nobody from one, and Close gives a place back") func sessions() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let out = try stand.python(
      Self.prelude + """
        mine = connect()
        session = open_session(mine)[1]
        def flood():
          buses = [connect() for _ in range(5)]
          print([type(open_session(bus)).__name__ for bus in buses for _ in range(128)].count('tuple'), flush=True)
          return buses
        end = process(flood)
        print(isinstance(open_session(connect()), tuple), call(mine, session, 'Close', interface='Session'))
        end()
        for _ in range(1000): call(mine, open_session(mine)[1], 'Close', interface='Session')
        print(isinstance(open_session(mine), tuple))
        driver = 'org.freedesktop.DBus'
        pid = mine.call_blocking(driver, '/', driver, 'GetConnectionUnixProcessID', 's', (NAME,))
        def room():
          status = dict(line.split(':', 1) for line in open(f'/proc/{pid}/status'))
          # Only root may look at the descriptors of a daemon.
          try: count = len(os.listdir(f'/proc/{pid}/fd'))
          except PermissionError: count = 0
          return int(status['VmRSS'].split()[0]), count
        # As many sessions as a connection may have
        for _ in range(128): open_session(mine)
        kilobytes, descriptors = room()
        print(all(isinstance(open_session(mine), tuple) for _ in range(10_000)))
        after = room()
        print(after[0] - kilobytes < 1000 or after, after[1] <= descriptors or after)
        print(type(open_session(connect())).__name__)
        """)
    // Its own oldest sessions give way.
    #expect(out == "640\nTrue None\nTrue\nTrue\nTrue True\ntuple\n", "\(out)")
  }

  private static let ofService = [
    "OpenSession", "CreateCollection", "SearchItems", "Unlock", "Lock", "GetSecrets", "ReadAlias", "SetAlias",
  ]
  private static let ofCollection = ["Delete", "CreateItem"]

  @Test("wrong calls are errors, and on the record") func wrong() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let out = try stand.python(
      Self.prelude + """
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        raw = Gio.DBusConnection.new_for_address_sync(ADDRESS, flags, None, None)
        twice = GLib.Variant.parse(GLib.VariantType('(a{ss})'), "([{'a', '1'}, {'a', '2'}],)", None, None)
        try:
          raw.call_sync(NAME, ROOT, NAME[:-7] + 'Secret.Service', 'SearchItems', twice, None, 0, -1, None)
        except GLib.Error as error: print('InvalidArgs' in error.message)
        bus = connect()
        print(call(bus, ROOT, 'GetSecrets', 's', 'x'), call(bus, ROOT + '/none', 'Unlock', 'ao', ['/']))
        print(call(bus, ROOT, 'Nothing'))
        for member in '\(Self.ofService.joined(separator: " "))'.split(): print(call(bus, ROOT, member, 'y', 1))
        login = ROOT + '/collection/login'
        for member in '\(Self.ofCollection.joined(separator: " "))'.split():
          print(call(bus, login, member, 'y', 1, interface='Collection'))
        """)
    let all = Self.ofService + Self.ofCollection
    let wrong = String(repeating: "InvalidArgs\n", count: all.count)
    #expect(out == "True\nInvalidArgs UnknownObject\nUnknownMethod\n" + wrong, "\(out)")
    let entries = try stand.sandbox.must(["audit", "-n", "100"])
    for call in all { #expect(entries.contains("secret-service: \(call)"), "\(call): \(entries)") }
  }

  @Test("an item has as much as a limit says and no more, and the default collection is one that there is")
  func bounds() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let out = try stand.python(
      Self.prelude + """
        bus = connect()
        session = open_session(bus)[1]
        def make(value=b'v', **rest):
          answer = create(bus, session, value, **rest)
          print(answer if isinstance(answer, str) else 'made')
        for count in 256, 257: make(**{f'n{i}': '' for i in range(count)})
        # The name of the attribute counts, too.
        for count in 65536, 65537: make(n='x' * (count - 1))
        for count in 1 << 20, (1 << 20) + 1: make(bytes(count))
        for count in 255, 256: make(content='x' * count)
        print(call(bus, ROOT, 'SetAlias', 'so', 'default', '/'))
        print(call(bus, ROOT, 'ReadAlias', 's', 'default') == ROOT + '/collection/login')
        """)
    let wanted = String(repeating: "made\nLimitsExceeded\n", count: 4) + "NoSuchObject\nTrue\n"
    #expect(out == wanted, "\(out)")
  }

  @Test("a long label is refused before a prompt keeps it") func label() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    try stand.restart()
    let out = try stand.python(
      Self.prelude + """
        bus = connect()
        def make(count):
          label = {'org.freedesktop.Secret.Collection.Label': dbus.String('x' * count, variant_level=1)}
          return call(bus, ROOT, 'CreateCollection', 'a{sv}s', dbus.Dictionary(label, signature='sv'), '')
        print(make(5000), make(50)[0])
        """)
    #expect(out == "LimitsExceeded /\n", "\(out)")
  }

  @Test("answers that take long to be written give way to others, and each comes in the end") func slow() throws {
    let stand = try SecretServiceStand("audit = required\n")
    defer { stand.close() }
    let out = try stand.python(
      Self.prelude + """
        bus = connect()
        session = open_session(bus)[1]
        items = [create(bus, session, os.urandom(1 << 10), n=str(i))[0] for i in range(150)]
        def client():
          own = connect()
          secrets = call(own, ROOT, 'GetSecrets', 'aoo', items, open_session(own)[1])
          print(secrets if isinstance(secrets, str) else len(secrets), flush=True)
        ends = [process(client, False) for _ in range(6)]
        for end in ends: end()
        """)
    #expect(out == String(repeating: "150\n", count: 6), "\(out)")
  }

  @Test("large answers wait for room, and each comes in the end") func room() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let out = try stand.python(
      Self.prelude + """
        bus = connect()
        session = open_session(bus)[1]
        items = [create(bus, session, os.urandom(1 << 20), n=str(i))[0] for i in range(6)]
        def client():
          own = connect()
          secrets = call(own, ROOT, 'GetSecrets', 'aoo', items + items[:1] + [ROOT + '/none'], open_session(own)[1])
          print(sorted(secrets) == sorted(items) and all(len(s[2]) == 1 << 20 for s in secrets.values()), flush=True)
        ends = [process(client, False) for _ in range(6)]
        own = open_session(bus)[1]
        print(len(call(bus, items[0], 'GetSecret', 'o', own, interface='Item')[2]) == 1 << 20, flush=True)
        for end in ends: end()
        """)
    #expect(out == String(repeating: "True\n", count: 7), "\(out)")
  }
}

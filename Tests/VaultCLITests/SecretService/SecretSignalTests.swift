import Foundation
import Glibc
import Testing
import VaultTesting

/// The signals of the daemon, and those that it gets, over a real bus.
@Suite("Signals on the session bus") struct SecretSignalTests {
  /// The part of a Python program that hears of changed properties.
  private static let listener = """
    LOGIN, PROPERTIES = ROOT + '/collection/login', 'org.freedesktop.DBus.Properties'
    class Listener(Client):
      def __init__(self):
        super().__init__()
        self.told = []
        self.bus.add_signal_receiver(
          lambda interface, values, gone, path: self.told.append((str(path).rsplit('/', 1)[1], values)),
          'PropertiesChanged', PROPERTIES, None, None, path_keyword='path')
      def read(self, path, interface='Collection'):
        wait(lambda: self.bus.name_has_owner(NAME))
        return self.bus.call_blocking(
          NAME, path, PROPERTIES, 'GetAll', 's', ('org.freedesktop.Secret.' + interface,))
      def locks(self): return sorted((name, bool(values['Locked'])) for name, values in self.told if 'Locked' in values)
    DRIVER = 'org.freedesktop.DBus'
    def driver(client, member, signature='', *values, interface=DRIVER):
      return client.bus.call_blocking(DRIVER, '/org/freedesktop/DBus', interface, member, signature, values)

    """

  private func python(_ script: String, at stand: SecretPromptTests.Stand) throws -> [String] {
    try stand.python(Self.listener + script)
  }

  @Test("a lock and an unlock are one signal for each collection, whatever number of items a program has read")
  func locks() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      one = Listener()
      unlock()
      items = [one.make({'n': str(n)}, b'v') for n in range(20)]
      one.read(LOGIN)
      for item in items: one.read(item, 'Item')
      for change in [lambda: one.call(ROOT, 'Lock', 'ao', [DEFAULT]), unlock]:
        wait(lambda: False, 0.5)
        one.told.clear()
        change()
        wait(lambda: len(one.locks()) == 2)
        wait(lambda: False, 0.5)
        print(one.locks(), len(one.told))
      """, at: stand)
    #expect(out == ["[('login', True), ('session', True)] 2", "[('login', False), ('session', False)] 2"])
  }

  @Test("each program is told of the locks as they are for itself") func own() throws {
    let stand = try SecretPromptTests.Stand()
    let root = try stand.sandbox.run(["-f", stand.sandbox.root], program: "/usr/bin/readlink").output
    let program = root.trimmingCharacters(in: .newlines) + "/confined"
    let interpreter = URL(fileURLWithPath: "/usr/bin/python3").resolvingSymlinksInPath().path
    try FileManager.default.copyItem(atPath: interpreter, toPath: program)
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let grant = try Terminal(stand.sandbox, ["grant", "user:\(geteuid()),exe:\(program)", "web", "--can", "get"])
    try grant.expect("assword")
    grant.type(password)
    try #require(try grant.wait() == 0, "\(grant.screen)")
    let out = try python(
      """
      script = '''
      import sys, dbus, dbus.bus, dbus.mainloop.glib
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus, properties = dbus.bus.BusConnection(sys.argv[1]), 'org.freedesktop.DBus.Properties'
      def take(interface, values, gone, path):
        if 'Locked' in values: print(path.rsplit('/', 1)[1], bool(values['Locked']), flush=True)
      bus.add_signal_receiver(take, 'PropertiesChanged', properties, None, None, path_keyword='path')
      interface = 'org.freedesktop.Secret.Collection'
      bus.call_blocking('org.freedesktop.secrets', sys.argv[2], properties, 'GetAll', 's', (interface,))
      print('ready', flush=True)
      GLib.MainLoop().run()
      '''
      one = Listener()
      one.read(LOGIN)
      held = subprocess.Popen(
        ['\(program)', '-c', script, '\(stand.bus.address)', LOGIN], stdout=subprocess.PIPE, text=True)
      def hears(count): return sorted(held.stdout.readline().strip() for _ in range(count))
      print(hears(1))
      for change in [lambda: one.call(ROOT, 'Lock', 'ao', [DEFAULT]), unlock]:
        one.told.clear()
        change()
        wait(lambda: len(one.locks()) == 2)
        print(one.locks(), hears(2))
      held.kill()
      """, at: stand)
    #expect(
      out == [
        "['ready']", "[('login', True), ('session', True)] ['login True', 'session True']",
        "[('login', False), ('session', False)] ['login True', 'session True']",
      ])
  }

  @Test("the list of more than a thousand items is told once a second at most, and whole in the end")
  func long() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      one, count = Listener(), 1001
      unlock()
      for n in range(count): one.make({'n': str(n)}, b'v')
      began = time.monotonic()
      one.read(LOGIN)
      one.told.clear()
      while time.monotonic() < began + 2.5:
        one.make({'n': str(count)}, b'v')
        count += 1
      def lists(): return [values['Items'] for name, values in one.told if 'Items' in values]
      print(count > 1010, wait(lambda: lists() and len(lists()[-1]) == count))
      print(1 <= len(lists()) <= time.monotonic() - began or len(lists()))
      """, at: stand)
    #expect(out == ["True True", "True"])
  }

  @Test("nothing wakes the whole daemon up but names that it knows, and those that have them") func matches() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      one = Listener()
      one.read(LOGIN)
      all, pid = driver(one, 'GetAllMatchRules', interface=DRIVER + '.Debug.Stats'), status('pid')
      rules = [str(rule) for rule in all[driver(one, 'GetNameOwner', 's', NAME)]]
      print(sum(f"arg0='{one.bus.get_unique_name()}'" in rule for rule in rules), len(rules) > 2)
      print([r for r in rules if 'sender=' not in r or f"sender='{DRIVER}'" in r and 'arg0=' not in r])
      # The daemon has no other connection.
      print([driver(one, 'GetConnectionUnixProcessID', 's', n) for n in all if n.startswith(':')].count(pid))
      """, at: stand)
    #expect(out == ["1 True", "[]", "1"])
  }

  @Test("a bus that goes takes sessions and prompts along, also for who has an old name on the next bus")
  func otherBus() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      one, file = [Client() for _ in range(12)][-1], os.environ['XDG_RUNTIME_DIR'] + '/vault/prompts'
      name = one.bus.get_unique_name()
      unlock()
      def begin(client): return client.call(ROOT, 'OpenSession', 'sv', 'plain', dbus.String('', variant_level=1))[1]
      def read(client, session): return client.call(item, 'GetSecret', 'o', session, interface='Item')
      item, session = one.make({'n': '1'}, b'v'), begin(one)
      one.call(ROOT, 'Lock', 'ao', [DEFAULT])
      path = one.unlock(DEFAULT)[1]
      one.prompt(path)
      print(status('prompts'), wait(lambda: os.path.exists(file)))
      os.kill(driver(one, 'GetConnectionUnixProcessID', 's', DRIVER), signal.SIGKILL)
      print(wait(lambda: status('prompts') == 0))
      words = ['--config-file=\(stand.sandbox.root)/session-bus.conf', '--nofork', '--nopidfile', '--print-address']
      bus = subprocess.Popen(['/usr/bin/dbus-daemon', *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
      try:
        bus.stdout.readline()
        one = Client()
        print(wait(lambda: one.bus.name_has_owner(NAME)), wait(lambda: not os.path.exists(file)))
        while one.bus.get_unique_name() != name: one = Client()
        print(one.prompt(path))
        unlock()
        print(read(one, session), bytes(read(one, begin(one))[2]))
      finally: bus.kill()
      """, at: stand)
    #expect(
      out == [
        "1 True", "True", "True True", "org.freedesktop.DBus.Error.UnknownObject",
        "org.freedesktop.Secret.Error.NoSession b'v'",
      ])
  }
}

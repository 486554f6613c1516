import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

/// The portal of sandboxed programs, over a real bus: a Python program in its place, and xdg-desktop-portal itself.
@Suite("The portal on the session bus") struct PortalTests {
  /// The part of a Python program that makes it the portal.
  static let portal = """
    PORTAL, PATH = 'org.freedesktop.portal.Desktop', '/org/freedesktop/portal/desktop'
    IMPL = 'org.freedesktop.impl.portal.'
    class Portal(Client):
      def __init__(self, owns=True):
        super().__init__()
        self.count = 0
        if owns: self.bus.request_name(PORTAL, 4)
      def ask(self, app, fd, handle=None):
        self.count += 1
        handle = handle or f'{PATH}/request/1_{self.bus.get_unique_name()[3:]}/t{self.count}'
        end = []
        wait(lambda: self.bus.name_has_owner(NAME))
        self.bus.call_async(
          NAME, PATH, IMPL + 'Secret', 'RetrieveSecret', 'osha{sv}',
          (handle, app, dbus.types.UnixFd(fd), dbus.Dictionary({}, signature='sv')),
          lambda response, results: end.append((int(response), len(results))),
          lambda error: end.append(error.get_dbus_name()), timeout=1000)
        return handle, end
      # Begins to ask with a pipe; its reading end comes with the answer.
      def begin(self, app):
        read, write = os.pipe()
        handle, end = self.ask(app, write)
        os.close(write)
        os.set_blocking(read, False)
        return read, handle, end
      def retrieve(self, app):
        read, _, end = self.begin(app)
        wait(lambda: end)
        return end[0], rest(read)
      def impl(self, path, interface, member, signature='', *values):
        try: return self.bus.call_blocking(NAME, path, interface, member, signature, values)
        except dbus.DBusException as error: return error.get_dbus_name()
      def close(self, handle): return self.impl(handle, IMPL + 'Request', 'Close')
      def version(self):
        return self.impl(PATH, 'org.freedesktop.DBus.Properties', 'Get', 'ss', IMPL + 'Secret', 'version')
    # All bytes up to the end, at which nobody has the other end any more.
    def rest(read):
      data, is_over = b'', []
      def more():
        nonlocal data
        try: part = os.read(read, 65536)
        except BlockingIOError: return False
        data += part
        return part == b''
      assert wait(more), 'the descriptor is still open'
      os.close(read)
      return data

    """

  private func python(_ script: String, at stand: SecretPromptTests.Stand) throws -> [String] {
    try stand.python(Self.portal + script)
  }

  @Test("is given the secret of each program, which no one else sees") func secrets() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      portal, stranger, client = Portal(), Portal(owns=False), Client()
      unlock()
      first, other, outside = [portal.retrieve(app) for app in ['org.example.A', 'org.example.B', '']]
      print(portal.version(), [(x[0], len(x[1])) for x in (first, other, outside)], first[1] != other[1])
      print([portal.retrieve(app) for app in ['org.example.A', 'org.example.B', '']] == [first, other, outside])
      print(stranger.version(), stranger.retrieve('org.example.A'))
      everything = dbus.Dictionary({}, signature='ss')
      found = client.call(ROOT, 'SearchItems', 'a{ss}', everything)
      own = client.call(DEFAULT, 'SearchItems', 'a{ss}', everything, interface='Collection')
      print([len(x) for x in found], len(own))
      names = vault('list', 'secret-service').split()
      names.sort(key=lambda name: 'org.example.A' not in vault('show', name))
      path = ROOT + '/collection/' + names[0].split('/', 1)[1]
      print(len(names), client.call(path, 'Delete', interface='Item'))
      print('Application key for org.example.A' in vault('show', names[0]))
      print('to give the program org.example.A its secret' in vault('audit'))
      # A secret that was moved is the program's all the same.
      moved = names[0].rsplit('/', 1)[1]
      vault('mv', names[0], 'kept/' + moved)
      print(portal.retrieve('org.example.A') == first)
      done = subprocess.run(['vault', 'rm', 'kept/' + moved], capture_output=True, text=True, stdin=subprocess.DEVNULL)
      print(done.returncode, 'org.example.A could not read its own data any more' in done.stderr)
      vault('mv', 'kept/' + moved, names[0])
      # A person is asked before a secret goes, and told what that means.
      for words in [['rm', names[0]], ['rm', 'secret-service/'], ['rm', '--yes', names[0]], ['trash', 'empty']]:
        done = subprocess.run(['vault', *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        print(done.returncode, 'org.example.A could not read its own data any more' in done.stderr)
      # Another owner of the name is another portal.
      portal.bus.release_name(PORTAL)
      print(portal.retrieve('org.example.B')[0])
      stranger.bus.request_name(PORTAL, 4)
      print(stranger.retrieve('org.example.B') == other)
      """, at: stand)
    let error = "org.freedesktop.DBus.Error.AccessDenied"
    #expect(
      out == [
        "1 [((0, 0), 64), ((0, 0), 64), ((0, 0), 64)] True", "True", "\(error) ('\(error)', b'')", "[0, 0] 0",
        "3 org.freedesktop.Secret.Error.NoSuchObject", "True", "True", "True", "75 True", "75 True", "75 True",
        "0 False",
        "75 True", error, "True",
      ])
  }

  @Test("a question about many items names the programs whose secrets are among them, up to twenty")
  func many() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      portal, client = Portal(), Client()
      unlock()
      def remove():
        words = ['vault', 'rm', 'secret-service/login/']
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        named = [n for n in range(22) if f'org.example.A{n} could not read its own data any more' in done.stderr]
        print(done.returncode, len(named), 'and 2 more programs' in done.stderr)
      for n in range(20): client.make({'n': str(n)}, b'v')
      portal.retrieve('org.example.A0')
      remove()
      for n in range(1, 22): portal.retrieve(f'org.example.A{n}')
      remove()
      """, at: stand)
    #expect(out == ["75 1 False", "75 20 True"])
  }

  @Test("waits while the vault is cold, for an unlock, a refusal, or the end of the program") func waits() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      portal, stranger = Portal(), Portal(owns=False)
      calls = [portal.begin(app) for app in ['org.example.A', 'org.example.B', 'org.example.A', 'org.example.C']]
      print(wait(lambda: status('prompts') == 4), portal.version(), [end for _, _, end in calls])
      told = prompts()
      print([(p['task'], p['waits_for'], p.get('app')) for p in told] == [('retrieve', 'unlock', None)] * 4)
      vault('refuse', str(told[2]['number']), '--yes')
      print(wait(lambda: calls[2][2]), rest(calls[2][0]))
      print(stranger.close(calls[1][1]), portal.close(calls[1][1]), wait(lambda: calls[1][2]), rest(calls[1][0]))
      print(portal.close(calls[1][1]), status('prompts'))
      unlock()
      print(wait(lambda: calls[0][2] and calls[3][2]), [len(rest(calls[i][0])) for i in (0, 3)], status('prompts'))
      first = portal.retrieve('org.example.A')
      vault('lock')
      print(portal.retrieve('org.example.A') == first)
      # A lock at this door shuts it.
      Client().call(ROOT, 'Lock', 'ao', [ROOT + '/collection/login'])
      read, _, end = portal.begin('org.example.A')
      print(wait(lambda: status('prompts') == 1), end)
      unlock()
      print(wait(lambda: end), rest(read) == first[1])
      # One program's calls push out no other's.
      Client().call(ROOT, 'Lock', 'ao', [ROOT + '/collection/login'])
      other = portal.begin('org.example.B')
      calls = [portal.begin('org.example.A') for _ in range(20)]
      wait(lambda: sum(1 for _, _, end in calls if end) == 12)
      print([end for _, _, end in calls].count([(2, 0)]), [end for _, _, end in calls[12:]] == [[]] * 8, other[2])
      print(status('prompts'))
      portal.bus.close()
      print(wait(lambda: status('prompts') == 0), rest(other[0]))
      """, at: stand)
    #expect(
      out == [
        "True 1 [[], [], [], []]", "True", "[(1, 0)] b''",
        "org.freedesktop.DBus.Error.AccessDenied None [(1, 0)] b''", "org.freedesktop.DBus.Error.UnknownObject 2",
        "[(0, 0)] [64, 64] 0", "True", "True []", "[(0, 0)] True", "12 True []", "9", "True b''",
      ])
  }

  @Test("is told apart from anybody else before a secret goes out, also to those who ask while nobody knows who it is")
  func beforeKnown() throws {
    let stand = try SecretPromptTests.Stand()
    try stand.sandbox.stopDaemon()
    try stand.bus.refuse("GetNameOwner")
    try stand.sandbox.startDaemon()
    let out = try python(
      """
      import re
      portal, stranger = Portal(), Portal(owns=False)
      unlock()
      calls = [each.begin('org.example.A') for each in (stranger, portal)]
      # Once these calls are answered, those before them have come. The version is no secret.
      portal.version()
      print(stranger.version(), [end for _, _, end in calls])
      path = '\(stand.bus.configuration)'
      with open(path) as file: text = file.read()
      with open(path, 'w') as file: file.write(re.sub('<deny [^>]*>', '', text))
      bus = 'org.freedesktop.DBus'
      portal.bus.call_blocking(bus, '/org/freedesktop/DBus', bus, 'ReloadConfig', '', ())
      print(wait(lambda: all(end for _, _, end in calls), 60))
      print([(end, len(rest(read))) for read, _, end in calls])
      print(stranger.retrieve('org.example.A'), portal.retrieve('org.example.A')[0])
      """, at: stand)
    let error = "org.freedesktop.DBus.Error.AccessDenied"
    #expect(
      out == [
        "\(error) [[], []]", "True", "[(['\(error)'], 0), ([(0, 0)], 64)]", "('\(error)', b'') (0, 0)",
      ])
  }

  @Test("writes to what a program gives it without ever waiting there, and closes it") func descriptors() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try python(
      """
      import socket, tempfile
      portal = Portal()
      unlock()
      _, secret = portal.retrieve('a')
      pid = status('pid')
      def files():
        try: return len(os.listdir(f'/proc/{pid}/fd'))
        except PermissionError: return 0
      def settled(count):
        return wait(lambda: files() <= count)
      wait(lambda: False, 0.3)
      before = files()
      def give(fd):
        _, end = portal.ask('a', fd)
        wait(lambda: end)
        return end[0][0]
      def fill(fd):
        os.set_blocking(fd, False)
        for part in (b'x' * 4096, b'x'):
          try:
            while True: os.write(fd, part)
          except BlockingIOError: pass
        os.set_blocking(fd, True)
      # Drains until the answer is there and everything is read.
      def drain(read, end):
        data = b''
        os.set_blocking(read, False)
        def more():
          nonlocal data
          is_over = bool(end)
          try: data += os.read(read, 65536)
          except BlockingIOError: return is_over
          return False
        wait(more)
        return end, data[-64:] == secret, data[:-64].strip(b'x') == b''
      # Full pipes: nobody reads the first, the second is read later, the third is closed later.
      pipes = [os.pipe() for _ in range(3)]
      for _, write in pipes: fill(write)
      began = time.monotonic()
      ends = [portal.ask('a', write)[1] for _, write in pipes]
      wait(lambda: False, 0.5)
      print(ends, portal.version())
      print(drain(pipes[1][0], ends[1]))
      os.close(pipes[2][0])
      print(wait(lambda: ends[2]), ends[0])
      print(wait(lambda: ends[0]), 9 < time.monotonic() - began < 15)
      # Ends that are closed, or the wrong ones
      read, write = os.pipe()
      os.close(read)
      one, two = socket.socketpair()
      one.close()
      print(give(write), give(two.fileno()), give(os.pipe()[0]))
      # Sockets
      for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        one, two = socket.socketpair(socket.AF_UNIX, kind)
        print(give(two.fileno()), one.recv(100) == secret)
      one, two = socket.socketpair()
      fill(two.fileno())
      _, end = portal.ask('a', two.fileno())
      wait(lambda: False, 0.3)
      print(end == [], drain(one.fileno(), end))
      # Files: only those in memory
      memory, file = os.memfd_create('x'), tempfile.TemporaryFile(dir='/var/tmp')
      print(give(memory), os.pread(memory, 100, 0) == secret)
      if os.fstatvfs(file.fileno()).f_fsid != os.statvfs('/dev/shm').f_fsid:
        print(give(file.fileno()), os.fstat(file.fileno()).st_size)
      print([give(os.open(path, flags)) for path, flags in
        [('/', os.O_RDONLY), ('/', os.O_PATH), ('/dev/null', os.O_WRONLY)]])
      listening = socket.socket()
      listening.bind(('127.0.0.1', 0))
      listening.listen()
      internet = socket.create_connection(listening.getsockname())
      alone = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      print(give(internet.fileno()), give(alone.fileno()))
      # Requests at other places
      for handle in ['/', ROOT + '/x', PATH, PATH + 'x']:
        _, end = portal.ask('a', os.pipe()[1], handle)
        wait(lambda: end)
        print(end[0])
      print(portal.retrieve('x' * 40000)[0])
      print(settled(before), status('pid') == pid, portal.retrieve('a') == ((0, 0), secret))
      """, at: stand)
    let error = "org.freedesktop.DBus.Error."
    #expect(
      out == [
        "[[], [], []] 1", "([(0, 0)], True, True)", "[(2, 0)] []", "[(2, 0)] True", "2 2 2", "0 True", "0 True",
        "0 True", "True ([(0, 0)], True, True)", "0 True", "2 0", "[2, 2, 2]", "2 2", error + "InvalidArgs",
        error + "InvalidArgs", error + "InvalidArgs", error + "InvalidArgs", error + "LimitsExceeded",
        "True True True",
      ])
  }

  // MARK: xdg-desktop-portal

  private static let folder = Repository.root.appending(path: ".build/xdg-desktop-portal").path
  private static let program = folder + "/usr/libexec/xdg-desktop-portal"
  private static let isPossible =
    FileManager.default.isExecutableFile(atPath: program) || ProcessInfo.processInfo.environment["CI"] == "true"

  /// Starts xdg-desktop-portal, for which programs outside of sandboxes all are one.
  private func startPortal(on stand: SecretPromptTests.Stand) throws {
    let portals = stand.sandbox.root + "/portals"
    try FileManager.default.createDirectory(atPath: portals, withIntermediateDirectories: true)
    // Debian's file names the object and the interface that a vault serves, too.
    let debian = "/usr/share/xdg-desktop-portal/portals/gnome-keyring.portal"
    let names = "DBusName=org.freedesktop.secrets\nInterfaces=org.freedesktop.impl.portal.Secret\nUseIn=gnome\n"
    let text = (try? String(contentsOfFile: debian, encoding: .utf8)) ?? "[portal]\n\(names)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: portals + "/gnome-keyring.portal"))
    let libraries = try FileManager.default.contentsOfDirectory(atPath: Self.folder + "/usr/lib").map {
      "\(Self.folder)/usr/lib/\($0)"
    }
    let environment = [
      "LD_LIBRARY_PATH=" + libraries.joined(separator: ":"), "XDG_DESKTOP_PORTAL_DIR=" + portals,
      "XDG_CURRENT_DESKTOP=GNOME",
    ]
    try stand.bus.program(
      "org.freedesktop.impl.portal.PermissionStore", "/usr/bin/env",
      environment + [Self.folder + "/usr/libexec/xdg-permission-store"])
    try stand.bus.program("org.freedesktop.portal.Desktop", "/usr/bin/env", environment + [Self.program])
  }

  @Test(
    "serves xdg-desktop-portal: unlocked, locked, refused, closed, and with a daemon that ends meanwhile",
    .enabled(if: isPossible, "needs xdg-desktop-portal, which `make test-deps` unpacks in .build"))
  func desktopPortal() throws {
    let stand = try SecretPromptTests.Stand()
    try startPortal(on: stand)
    let out = try python(
      """
      DESK = 'org.freedesktop.portal.'
      class App(Client):
        def __init__(self):
          super().__init__()
          self.responses = {}
          self.bus.add_signal_receiver(
            lambda response, results, path: self.responses.__setitem__(path, int(response)),
            'Response', DESK + 'Request', None, None, path_keyword='path')
        def begin(self):
          read, write = os.pipe()
          os.set_blocking(read, False)
          token = f'vault{read}_{len(self.responses)}'
          handle = self.bus.call_blocking(
            PORTAL, PATH, DESK + 'Secret', 'RetrieveSecret', 'ha{sv}',
            (dbus.types.UnixFd(write), dbus.Dictionary({'handle_token': token}, signature='sv')))
          os.close(write)
          return read, handle
        def retrieve(self):
          read, handle = self.begin()
          wait(lambda: handle in self.responses)
          return self.responses.get(handle), rest(read)
      app = App()
      unlock()
      first = app.retrieve()
      print(first[0], len(first[1]), app.retrieve() == first)
      # Locked, then unlocked
      def restart():
        kill()
        wait(lambda: not app.bus.name_has_owner(NAME), 60)
        global vaultd
        vaultd = subprocess.Popen(['vaultd'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait(lambda: app.bus.name_has_owner(NAME) and status('prompts') == 0, 60)
      restart()
      reads = [app.begin() for _ in range(3)]
      print(wait(lambda: status('prompts') == 3), app.responses.keys() & {r[1] for r in reads})
      vault('refuse', str(prompts()[0]['number']), '--yes')
      print(wait(lambda: reads[0][1] in app.responses), app.responses[reads[0][1]], rest(reads[0][0]))
      app.bus.call_blocking(PORTAL, reads[1][1], DESK + 'Request', 'Close', '', ())
      print(wait(lambda: status('prompts') == 1), rest(reads[1][0]))
      unlock()
      print(wait(lambda: reads[2][1] in app.responses), app.responses[reads[2][1]], rest(reads[2][0]) == first[1])
      # restarted while waiting
      restart()
      read, handle = app.begin()
      print(wait(lambda: status('prompts') == 1))
      restart()
      print(wait(lambda: handle in app.responses), app.responses[handle], rest(read))
      read, handle = app.begin()
      unlock()
      print(wait(lambda: handle in app.responses), app.responses[handle], rest(read) == first[1], status('prompts'))
      vaultd.kill()
      """, at: stand)
    #expect(
      out == [
        "0 64 True", "True set()", "True 1 b''", "True b''", "True 0 True", "True", "True 2 b''", "True 0 True 0",
      ])
  }
}

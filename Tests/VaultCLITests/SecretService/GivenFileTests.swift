import Glibc
import Testing
import VaultTesting

/// To mount takes root and /dev/fuse.
private let canMount = unsafe geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

/// Descriptors of a file system that never answers, which a program serves itself. close(2) waits for its answer.
@Suite("A descriptor over the session bus, whose file never answers", .enabled(if: canMount))
struct GivenFileTests {
  /// The part of a Python program that has a process serve a file. That process answers the daemon, when it closes the
  /// file, only once it is told to, and everybody else at once.
  private static let silence = """
    import ctypes, mmap, select, struct, dbus.lowlevel
    libc, folder = ctypes.CDLL(None, use_errno=True), os.environ['XDG_RUNTIME_DIR'] + '/silent'
    daemon = status('pid')
    os.mkdir(folder)
    # In a mount namespace of its own: the mount ends with these two processes, and with it all waiting for the file.
    assert libc.unshare(0x20000) == 0 and libc.mount(b'none', b'/', None, 0x44000, None) == 0
    device = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
    options = f'fd={device},rootmode=40000,user_id=0,group_id=0,allow_other'
    assert libc.mount(b'silent', folder.encode(), b'fuse', 6, options.encode()) == 0
    # The number of those that are kept waiting, and a mark that they are to be answered.
    state = mmap.mmap(-1, 2)
    def serve():
      libc.prctl(1, signal.SIGKILL)
      kept = []
      def attributes(node):
        mode = 0o40755 if node == 1 else 0o100666
        return struct.pack('<QQQQQQIIIIIIIIII', node, 0, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
      def answer(number, data=b''): os.write(device, struct.pack('<IiQ', 16 + len(data), 0, number) + data)
      while True:
        if select.select([device], [], [], 0.02)[0]:
          _, what, number, node, _, _, pid, _ = struct.unpack_from('<IIQQIIII', os.read(device, 1 << 18))
          if what == 26:
            answer(number, struct.pack('<IIIIHHIIHHI7I', 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0, *[0] * 7))
          elif what == 1: answer(number, struct.pack('<QQQQII', 2, 1, 1, 1, 0, 0) + attributes(2))
          elif what == 3: answer(number, struct.pack('<QII', 1, 0, 0) + attributes(node))
          elif what in (14, 27): answer(number, struct.pack('<QII', 1, 0, 0))
          elif what == 25 and f'Tgid:\\t{daemon}\\n' in open(f'/proc/{pid}/status').read(): kept.append(number)
          elif what not in (2, 36, 42): answer(number)
        while kept and state[1]: answer(kept.pop())
        state[0] = len(kept)
    if os.fork() == 0: serve()
    silent = os.open(folder + '/file', os.O_RDWR)
    def files(): return len(os.listdir(f'/proc/{daemon}/fd'))
    # A call with descriptors for whose answer nobody waits.
    def send(client, count):
      message = dbus.lowlevel.MethodCallMessage(NAME, ROOT, 'org.freedesktop.Secret.Service', 'ReadAlias')
      for _ in range(count): message.append(dbus.types.UnixFd(silent), signature='h')
      client.bus.send_message(message)
      client.bus.flush()

    """

  @Test("holds up nobody: neither a lock, nor another call, nor the portal") func silent() throws {
    let stand = try SecretPromptTests.Stand()
    let out = try stand.python(
      PortalTests.portal + Self.silence + """
        portal, stranger, client = Portal(), Client(), Client()
        unlock()
        alias = lambda: client.call(ROOT, 'ReadAlias', 's', 'default') == ROOT + '/collection/login'
        given = portal.retrieve('org.example.A')
        # Each client has a descriptor, those that come later, too.
        before = files() + 8
        send(stranger, 1)
        print(wait(lambda: state[0]), alias(), status('state'))
        vault('lock')
        print(status('state'))
        unlock()
        _, end = portal.ask('org.example.A', silent)
        print(wait(lambda: end), end, alias())
        # More than there are threads, and more than may wait.
        owner = client.bus.get_name_owner(NAME)
        for _ in range(30): send(stranger, 16)
        print(alias(), client.bus.get_name_owner(NAME) == owner)
        vault('lock')
        print(status('state'), files() < before + 150)
        unlock()
        # All is as before once the daemon is answered.
        state[1] = 1
        print(wait(lambda: files() <= before), portal.retrieve('org.example.A') == given and len(given[1]))
        """)
    #expect(
      out == [
        "1 True unlocked", "locked", "[(2, 0)] [(2, 0)] True", "True True", "locked True", "True 64",
      ])
  }
}

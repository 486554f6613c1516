import Foundation
import Glibc
import Synchronization
import Testing
import VaultModel
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The callers on a bus") struct BusPeersTests {
  /// Starts processes for each of which something is kept, one after the other, until they are told to end.
  private static let keepers = """
    first, second = os.pipe(), os.pipe()
    def start(count):
      for _ in range(count):
        if not os.fork():
          bus = connect()
          print(call(bus, 'Keep'), flush=True)
          os.write(second[1], b'x')
          os.read(first[0], 1)
          os._exit(0)
        os.read(second[0], 1)
    def end(count):
      os.write(first[1], b'x' * count)
      for _ in range(count): os.wait()

    """

  @Test("the process of a connection is asked for once, and is the one that connected") func once() throws {
    let stand = try ServingStand()
    let first = "bus = connect(); print(call(bus, 'Who')[0] == os.getuid(), call(bus, 'Who')[1] == os.getpid())\n"
    #expect(try stand.python(first) == ["True True"])
    // A bus that does not answer is not asked again about a connection that is known.
    let out = try stand.python(
      """
      bus = connect()
      print(call(bus, 'Who')[1] == os.getpid())
      rule = "<deny send_interface='org.freedesktop.DBus' send_member='GetConnectionCredentials'/>"
      path = '\(stand.sandbox.root)/session-bus.conf'
      text = open(path).read().replace('</policy>', rule + '</policy>')
      open(path, 'w').write(text)
      driver(bus, 'ReloadConfig')
      print(call(bus, 'Who')[1] == os.getpid())
      print(call(connect(), 'Who'))
      print(call(bus, 'Who')[1] == os.getpid())
      """)
    #expect(out == ["True", "True", "org.freedesktop.DBus.Error.AccessDenied", "True"])
  }

  @Test("calls that come before their caller is known wait, in their order") func order() throws {
    let stand = try ServingStand()
    _ = try stand.holdingLoop {
      try stand.python("bus = connect()\nfor i in range(40): send(bus, 'Note', 's', str(i))\nflush(bus)\n")
    }
    // That program has ended, and so have its calls.
    let out = try stand.python(
      """
      bus = connect()
      for i in range(40): send(bus, 'Note', 's', str(i))
      call(bus, 'Note', 's', 'end')
      """)
    #expect(out == [])
    for i in 0..<40 { try stand.expect("note: \(i)") }
    try stand.expect("note: end")
    #expect(try stand.on { inside in inside.peers.peers.count } <= 1)
  }

  @Test("a connection that ends is forgotten, with what was kept for it") func ends() throws {
    let stand = try ServingStand()
    let out = try stand.python(
      """
      one, other = connect(), connect()
      call(one, 'Keep')
      call(other, 'Keep')
      other.close()
      call(one, 'Note', 's', 'one is here')
      """)
    #expect(out == [])
    let heard = [stand.lines.next(), stand.lines.next(), stand.lines.next()]
    #expect(Set(heard) == ["end", "note: one is here"] && heard.count { $0 == "end" } == 2)
    #expect(try stand.on { $0.peers.peers.isEmpty })
  }

  @Test("nothing wakes the daemon up but its callers and its name") func matches() throws {
    let stand = try ServingStand()
    let rules = """
      def rules():
        all = bus.call_blocking('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus.Debug.Stats',
          'GetAllMatchRules', '', ())
        owner = driver(bus, 'GetNameOwner', NAME)
        fields = [dict(f.split('=') for f in rule.replace("'", '').split(',')) for rule in all[owner]]
        return sorted(f['member'] + ' ' + f['arg0'].replace(bus.get_unique_name(), 'me') for f in fields)
      """
    let out = try stand.python(
      """
      bus, other = connect(), connect()
      \(rules)
      print(rules())
      for _ in range(3): call(bus, 'Who')
      print(rules())
      call(other, 'Who')
      print(len(rules()))
      other.close()
      while len(rules()) > 2: pass
      """)
    let name = "NameLost \(ServingStand.name)"
    #expect(out == ["['\(name)']", "['\(name)', 'NameOwnerChanged me']", "3"])
  }

  @Test("a process that has ended has no authority, whoever holds its connection") func orphans() throws {
    let stand = try ServingStand()
    let out = try stand.python(
      """
      first, second = os.pipe(), os.pipe()
      def says(pipe): return os.read(pipe[0], 100).decode()
      if not os.fork():
        bus = connect()
        print(call(bus, 'Who')[1] == os.getpid(), flush=True)
        if os.fork(): os._exit(0)
        says(first)
        answers = []
        # A call gets its answer also behind another one.
        for _ in range(3): send(bus, 'Who', then=lambda m: answers.append(m.get_error_name()))
        while len(answers) < 3: GLib.MainContext.default().iteration(True)
        os.write(second[1], str(set(answers)).encode())
        os._exit(0)
      os.wait()
      os.write(first[1], b'x')
      print(says(second))
      """)
    #expect(out == ["True", "{'org.freedesktop.DBus.Error.AccessDenied'}"])
  }

  @Test("a call of a process that had ended before its first one is refused and recorded, with what is known of it")
  func unknown() throws {
    let stand = try ServingStand()
    try stand.on { inside in
      inside.peers.refuses = { [weak example = inside.example] request, peer, _ in
        let isKnown = peer.caller.uid == geteuid() && peer.caller.pid > 0
        let program = peer.caller.memory.executable() ?? "none"
        example?.note("refused: \(request.message.member ?? "") \(isKnown) \(program)")
      }
    }
    let out = try stand.python(
      """
      first, second = os.pipe(), os.pipe()
      def says(pipe): return os.read(pipe[0], 100).decode()
      if not os.fork():
        bus = connect()
        if os.fork(): os._exit(0)
        says(first)
        os.write(second[1], str(call(bus, 'Who')).encode())
        os._exit(0)
      os.wait()
      os.write(first[1], b'x')
      print(says(second))
      """)
    #expect(out == ["org.freedesktop.DBus.Error.AccessDenied"])
    try stand.expect("refused: Who true none")
  }

  @Test("a call whose caller can be decided about at once after all is answered") func decided() throws {
    let stand = try ServingStand()
    try stand.on { inside in
      var isAsked = false
      inside.peers.canDecide = { _, then in
        guard !isAsked else { return true }
        isAsked = true
        then()
        return false
      }
    }
    #expect(try stand.python("print(call(connect(), 'Who')[1] == os.getpid())") == ["True"])
  }

  @Test("calls that wait with a secret are refused at once, others are not") func refused() throws {
    let stand = try ServingStand()
    try stand.on { inside in
      inside.example.onNote = { [weak peers = inside.peers] in
        peers?.refuse(.denied("a lock")) { $0.message.signature == "(oayays)" }
      }
      inside.peers.refuses = { [weak example = inside.example] request, _, error in
        example?.note("refused: \(request.message.member ?? "")")
        request.pass = { _ in
          example?.note("told")
          return nil
        }
      }
    }
    let out = try stand.python(
      """
      bus, other = connect(), connect()
      answers = []
      def take(m): answers.append(str(m.get_error_name()))
      secret = dbus.Struct((ROOT, dbus.ByteArray(b'iv'), dbus.ByteArray(b'secret'), 'text/plain'), signature='oayays')
      send(bus, 'Later', then=take)
      send(bus, 'Turn', '(oayays)', secret, then=take)
      send(bus, 'Who', then=take)
      flush(bus)
      call(other, 'Note', 's', 'lock')
      call(other, 'Answer')
      while len(answers) < 3: GLib.MainContext.default().iteration(True)
      print(*answers)
      """)
    #expect(out == ["org.freedesktop.DBus.Error.AccessDenied None None"])
    // Nobody is told before it is on the record.
    try stand.expect("note: lock", "refused: Turn", "told")
  }

  @Test("only so many bytes of long calls are begun at a time, and the others wait for them, but short ones do not")
  func begun() throws {
    var limits = BusPeers.Limits()
    (limits.long, limits.begun) = (1000, (ofOne: 5000, ofAll: 5000))
    let stand = try ServingStand(limits)
    let out = try stand.python(
      """
      buses, answers = [connect() for _ in range(4)], []
      def stay(bus):
        send(bus, 'Stay', 's', 'x' * 2000, then=lambda m: answers.append(m.get_args_list()[0]))
        flush(bus)
      for bus in buses: call(bus, 'Who')
      for bus in buses: stay(bus)
      call(connect(), 'Note', 's', 'short')
      while len(answers) < 4:
        call(connect(), 'Answer')
        GLib.MainContext.default().iteration(False)
      print(*answers)
      """)
    #expect(out == ["at last at last at last at last"])
    try stand.expect("stay", "stay", "note: short", "stay", "stay")
  }

  @Test("the connection of a long call that is begun may end, and others that wait for it are begun") func leaves()
    throws
  {
    var limits = BusPeers.Limits()
    (limits.long, limits.begun) = (1000, (ofOne: 1000, ofAll: 1000))
    let stand = try ServingStand(limits)
    let out = try stand.python(
      """
      one, other, answers = connect(), connect(), []
      for bus in (one, other): call(bus, 'Who')
      send(one, 'Stay', 's', 'x' * 2000)
      # The bus may read one connection before the other; an answer on the first tells that its long call is begun.
      call(one, 'Who')
      send(other, 'Stay', 's', 'x' * 2000, then=lambda m: answers.append(m.get_args_list()[0]))
      flush(other)
      one.close()
      while not answers:
        call(connect(), 'Answer')
        GLib.MainContext.default().iteration(False)
      print(*answers)
      """)
    #expect(out == ["at last"])
    try stand.expect("stay", "stay")
  }

  @Test("only so many calls keep their descriptors until they are answered") func descriptors() throws {
    var limits = BusPeers.Limits()
    limits.withDescriptors = 2
    let stand = try ServingStand(limits)
    try stand.on { inside in inside.objects.keepsDescriptors = { $0.member == "Later" } }
    let out = try stand.python(
      """
      buses, answers = [connect() for _ in range(3)], []
      def later(bus):
        def take(m): answers.append((m.get_error_name() or 'done').split('.')[-1])
        send(bus, 'Later', then=take)
        flush(bus)
        call(connect(), 'Who')
      for bus in buses: later(bus)
      call(connect(), 'Answer')
      while len(answers) < 3: GLib.MainContext.default().iteration(True)
      later(buses[0])
      call(connect(), 'Answer')
      while len(answers) < 4: GLib.MainContext.default().iteration(True)
      print(sorted(answers))
      """)
    #expect(out == ["['LimitsExceeded', 'done', 'done', 'done']"])
  }

  @Test("a call has a caller of its own in its parts, and between them the connection has another") func parts() {
    let caller = Caller(door: .secretService, uid: 1, groups: [], pid: 2, started: 3, unit: nil, session: nil)
    let peer = BusPeer(":1.1", caller, Line(of: 1)) { true }
    let call = peer.callerOfCall()
    peer.begin(call)
    func isCall() -> Bool { peer.caller.passage === call.passage }
    #expect(call == caller && !isCall())
    peer.part(of: call) {
      #expect(isCall())
      peer.part(of: caller) { #expect(!isCall()) }
      #expect(isCall())
    }
    #expect(!isCall())
    call.passage.item = "a name"
    #expect(peer.mayHoldNames)
    peer.forgetNames()
    #expect(!peer.mayHoldNames && !call.mayHoldNames)
  }

  @Test("processes of one confined subject have one share, and give way to others together") func confined() throws {
    var limits = BusPeers.Limits()
    limits.clients = 3
    let stand = try ServingStand(limits)
    // The first three processes are confined to one subject.
    try stand.on { inside in
      var first: [Int32] = []
      inside.peers.confinement = { caller in
        if first.count < 3, !first.contains(caller.pid) { first.append(caller.pid) }
        return first.contains(caller.pid) ? "subject" : nil
      }
    }
    let out = try stand.python(Self.keepers + "start(5)\nend(5)\n")
    #expect(out == ["None", "None", "None", "None", "None"])
  }

  @Test("a new bus gives old names to others, who are not taken for their former owners") func reused() throws {
    let stand = try ServingStand()
    let script = """
      bus = connect()
      while int(bus.get_unique_name().split('.')[1]) < 12: bus = connect()
      print(bus.get_unique_name(), call(bus, 'Who')[1] == os.getpid())
      call(bus, 'Keep')

      """
    let held = try Pipe(in: stand.sandbox, "held")
    let ended = LoopLines()
    // A program that is connected when the bus goes.
    let thread = Thread {
      let lines = try? stand.python(script + "open('\(held.path)', 'w').close()\nopen('\(held.path)').close()\n")
      ended.add("\(lines ?? [])")
    }
    thread.start()
    held.wait()
    #expect(try stand.on { inside in inside.peers.peers.map { $0.name } } == [":1.12"])
    stand.real.crash()
    try stand.expect("end", "name: none")
    #expect(try stand.on { $0.peers.peers.isEmpty })
    try stand.real.start()
    try stand.expect("name: requested", "name: owned")
    #expect(try stand.python(script) == [":1.12 True"])
    try stand.expect("end")
    held.wait(toRead: false)
    #expect(ended.next() == "[\":1.12 True\"]")
  }

  @Test("beyond the limit, a connection for which nothing is kept gives way, and else one of the process with most")
  func clients() throws {
    var limits = BusPeers.Limits()
    limits.clients = 2
    let stand = try ServingStand(limits)
    let out = try stand.python(
      """
      buses = [connect() for _ in range(4)]
      print([call(bus, 'Who')[1] == os.getpid() for bus in buses + buses])
      print([call(bus, 'Keep') for bus in buses])
      """)
    #expect(out == ["[True, True, True, True, True, True, True, True]", "[None, None, None, None]"])
    // Two gave way, and two ended with the program.
    for _ in 0..<4 { try stand.expect("end") }
    // Of two processes with a connection each, none gives way.
    let two = try stand.python(Self.keepers + "start(2)\nprint(call(connect(), 'Keep'), flush=True)\nend(2)\n")
    #expect(two == ["None", "None", "org.freedesktop.DBus.Error.LimitsExceeded"])
  }

  @Test("a reply that others forge is no answer of the bus") func forged() throws {
    let stand = try ServingStand()
    let told = try stand.python(
      """
      bus, serials = connect(), []
      send(bus, 'Note', 's', 'x', then=lambda m: serials.append(m.get_serial()))
      while not serials: GLib.MainContext.default().iteration(True)
      print(driver(bus, 'GetNameOwner', NAME), serials[0])
      """)
    let first = try #require(told.first).split(separator: " ").map(String.init)
    try #require(first.count == 2)
    let (sent, out) = (try Pipe(in: stand.sandbox, "sent"), LoopLines())
    let thread = Thread {
      let lines = try? stand.python(
        """
        from gi.repository import Gio
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        forger = Gio.DBusConnection.new_for_address_sync('\(stand.real.address)', flags, None, None)
        bus, answers = connect(), []
        send(bus, 'Who', then=lambda m: answers.append(m.get_args_list()))
        flush(bus)
        for i in range(1, 40):
          message = Gio.DBusMessage.new()
          message.set_message_type(Gio.DBusMessageType.METHOD_RETURN)
          message.set_destination('\(first[0])')
          message.set_reply_serial(\(first[1]) + i)
          facts = {'UnixUserID': GLib.Variant('u', os.getuid()), 'ProcessID': GLib.Variant('u', os.getppid())}
          message.set_body(GLib.Variant('(a{sv})', (facts,)))
          forger.send_message(message, Gio.DBusSendMessageFlags.NONE)
        forger.flush_sync(None)
        open('\(sent.path)', 'w').close()
        while not answers: GLib.MainContext.default().iteration(True)
        print(answers[0][1] == os.getpid())
        """)
      out.add("\(lines ?? [])")
    }
    // The call and the replies to what it makes the daemon ask are there before the bus can answer.
    try stand.holdingLoop {
      thread.start()
      sent.wait()
    }
    #expect(out.next() == "[\"True\"]")
  }

  @Test("a bus that watches no more connections lets no more call") func watches() throws {
    let stand = try ServingStand()
    try stand.real.refuse("AddMatch")
    #expect(try stand.python("print(call(connect(), 'Who'))") == ["org.freedesktop.DBus.Error.LimitsExceeded"])
    #expect(try stand.on { $0.peers.peers.isEmpty })
    try stand.real.refuse(String?.none)
    #expect(try stand.python("print(call(connect(), 'Who')[1] == os.getpid())") == ["True"])
  }

  @Test("only so many calls wait, and only so many bytes", arguments: [true, false])
  func waiting(byCount: Bool) throws {
    var limits = BusPeers.Limits()
    if byCount { limits.calls.ofOne = 3 } else { limits.bytes.ofOne = 3000 }
    let stand = try ServingStand(limits)
    let sent = try Pipe(in: stand.sandbox, "sent")
    // The calls arrive together, before the bus can tell who makes them.
    let out = LoopLines()
    let thread = Thread {
      let lines = try? stand.python(
        """
        bus = connect()
        answers = []
        for i in range(5): send(bus, 'Note', 's', str(i) + ' ' * 900, then=lambda m: answers.append(m.get_error_name()))
        bus.flush()
        flush(bus)
        open('\(sent.path)', 'w').close()
        while len(answers) < 5: GLib.MainContext.default().iteration(True)
        print(*[str(a).split('.')[-1] for a in answers])
        """)
      out.add(lines?.first ?? "nothing")
    }
    try stand.holdingLoop {
      thread.start()
      sent.wait()
    }
    #expect(out.next() == "LimitsExceeded LimitsExceeded None None None")
    for i in 0..<3 { #expect(stand.lines.next()?.hasPrefix("note: \(i)") == true) }
  }

  @Test("a program that floods the daemon over many connections keeps no other waiting") func flood() throws {
    let time = Time()
    var clock = Clock.system
    clock.monotonic = { time.now.load(ordering: .relaxed) }
    let stand = try ServingStand(clock: clock)
    // Each call takes a millisecond, so five fill a turn.
    try stand.on { $0.example.onNote = { time.now.add(1_000_000, ordering: .relaxed) } }
    let (known, go) = (try Pipe(in: stand.sandbox, "known"), try Pipe(in: stand.sandbox, "go"))
    let sent = try Pipe(in: stand.sandbox, "sent")
    let ended = LoopLines()
    // Two programs, which are both known before their calls come together.
    let thread = Thread {
      let lines = try? stand.python(
        """
        first, second = os.pipe(), os.pipe()
        child = os.fork()
        buses = [connect() for _ in range(30 if child else 1)]
        for bus in buses: call(bus, 'Who')
        if not child:
          os.write(second[1], b'x')
          os.read(first[0], 1)
          send(bus, 'Note', 's', 'quiet')
          flush(bus)
          os.write(second[1], b'x')
          os.read(first[0], 1)
          os._exit(0)
        os.read(second[0], 1)
        open('\(known.path)', 'w').close()
        open('\(go.path)').close()
        for bus in buses + buses: send(bus, 'Note', 's', 'flood')
        for bus in buses: flush(bus)
        os.write(first[1], b'x')
        os.read(second[0], 1)
        open('\(sent.path)', 'w').close()
        for bus in buses: call(bus, 'Who')
        os.write(first[1], b'x')
        os.wait()
        """)
      ended.add("\(lines ?? ["failed"])")
    }
    thread.start()
    known.wait()
    try stand.holdingLoop {
      go.wait(toRead: false)
      sent.wait()
    }
    #expect(ended.next() == "[]")
    let heard = (0..<61).map { _ in stand.lines.next() }
    #expect(heard.count { $0 == "note: flood" } == 60)
    // The calls that fill one turn, and the one that is seen first in the next.
    let quiet = try #require(heard.firstIndex(of: "note: quiet"))
    #expect(quiet <= 6)
  }
}

/// A time that stands still unless the test moves it, in nanoseconds.
private final class Time: Sendable {
  let now = Atomic<Int64>(1_000_000_000)
}

/// A named pipe at which a test and a program wait for each other.
private struct Pipe {
  let path: String

  init(in sandbox: Sandbox, _ name: String) throws {
    path = sandbox.root + "/" + name
    guard unsafe mkfifo(path, 0o600) == 0 else { throw SandboxError("mkfifo: \(errno)") }
  }

  /// Waits until the other side has opened its end.
  func wait(toRead: Bool = true) {
    let opened = unsafe open(path, toRead ? O_RDONLY : O_WRONLY)
    #expect(opened >= 0)
    close(opened)
  }
}

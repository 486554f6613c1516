import Foundation
import Glibc
import Testing
import VaultTesting

/// Programs that use the Secret Service each in its own way.
@Suite("Clients of the Secret Service") struct SecretClientTests {
  private static func has(_ program: String) -> Bool { FileManager.default.isExecutableFile(atPath: program) }

  // MARK: docker's helper

  private static let docker = "/usr/bin/docker-credential-secretservice"

  @Test(
    "docker's helper stores, finds, lists and erases, also while locked",
    .enabled(if: has(docker), "needs golang-docker-credential-helpers")) func dockerHelper() throws
  {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let url = "https://registry.example.org/v1"
    func docker(_ word: String, _ input: String = "") throws -> Outcome {
      try stand.run(Self.docker, word, stdin: input)
    }
    for secret in ["first", "s3cr et"] {
      let credentials = #"{"ServerURL":"\#(url)","Username":"ana","Secret":"\#(secret)"}"#
      #expect(try docker("store", credentials).status == 0)
    }
    let answer = #"{"ServerURL":"\#(url)","Username":"ana","Secret":"s3cr et"}"#
    func found(_ outcome: Outcome) -> String { outcome.output.trimmingCharacters(in: .whitespacesAndNewlines) }
    #expect(try found(docker("get", url)) == answer)
    #expect(try found(docker("list")) == #"{"\#(url)":"ana"}"#)
    try stand.sandbox.must(["lock"])
    #expect(try found(docker("get", url)) == answer)
    try stand.lockOnBus()
    let waiting = try stand.begin(Self.docker, "get", stdin: url)
    try stand.unlock()
    #expect(try found(waiting.outcome()) == answer)
    try stand.restart()
    try stand.unlock()
    #expect(try found(docker("get", url)) == answer)
    #expect(try docker("erase", url).status == 0)
    #expect(try found(docker("list")) == "{}")
  }

  // MARK: git's helper

  private static let gitSource = "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"

  /// Builds git's helper, as `make bench` does; nil where it cannot be built.
  private func gitHelper(_ sandbox: Sandbox) throws -> String? {
    let path = sandbox.root + "/git-credential-libsecret"
    let all = ProcessInfo.processInfo.environment
    var environment: [String: String?] = [:]
    for name in ["PATH", "CPATH", "LIBRARY_PATH", "PKG_CONFIG_PATH", "PKG_CONFIG_SYSROOT_DIR"] {
      environment[name] = all[name]
    }
    let built = try sandbox.run(
      "-c", "clang $(pkg-config --cflags libsecret-1) '\(Self.gitSource)' -o \(path) $(pkg-config --libs libsecret-1)",
      program: "/bin/sh", environment: environment)
    return built.status == 0 ? path : nil
  }

  @Test(
    "git's helper for libsecret stores, finds, replaces and erases, also cold",
    .enabled(if: FileManager.default.fileExists(atPath: gitSource), "needs git's documentation"))
  func git() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let helper = try #require(try gitHelper(stand.sandbox))
    let place = "protocol=https\nhost=example.org\nusername=ana\n"
    for secret in ["first", "hunter2"] {
      #expect(try stand.run(helper, "store", stdin: place + "password=\(secret)\n\n").status == 0)
    }
    #expect(try stand.run(helper, "get", stdin: place + "\n").output.contains("password=hunter2\n"))
    #expect(try stand.sandbox.must(["list", "secret-service"]).split(separator: "\n").count == 1)
    try stand.restart()
    let waiting = try stand.begin(helper, "get", stdin: place + "\n")
    try stand.unlock()
    #expect(try waiting.outcome().output.contains("password=hunter2\n"))
    #expect(try stand.run(helper, "erase", stdin: place + "\n").status == 0)
    #expect(try !stand.run(helper, "get", stdin: place + "\n").output.contains("password="))
  }

  // MARK: Python

  @Test(
    "SecretStorage gets more secrets than it closes sessions: it opens one for each item",
    .enabled(if: SecretServiceStand.hasModule("secretstorage"), "needs python3-secretstorage"))
  func manySessions() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    _ = try stand.python(
      """
      import secretstorage
      bus = secretstorage.dbus_init()
      path = secretstorage.get_default_collection(bus).create_item('i', {'a': 'b'}, b'secret').item_path
      for _ in range(200):
          assert secretstorage.Item(bus, path).get_secret() == b'secret'
      """)
  }

  @Test(
    "SecretStorage makes, changes, finds and deletes items and collections, and sees locks",
    .enabled(if: SecretServiceStand.hasModule("secretstorage"), "needs python3-secretstorage"))
  func secretStorage() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let prelude = """
      import secretstorage
      bus = secretstorage.dbus_init()
      collection = secretstorage.get_default_collection(bus)

      """
    let made = try stand.python(
      prelude + """
        attributes = {'application': 'test', 'né': 'a\\tb', 'value': 'db.example', 'uri': 'u', 'attr:x': '1'}
        item = collection.create_item('My item', attributes, b'p\\0\\xff')
        assert item.get_secret() == b'p\\0\\xff' and item.get_label() == 'My item'
        assert item.get_attributes() == attributes
        assert list(collection.search_items({'value': 'db.example'})) == [item]
        assert item.get_secret_content_type() == 'text/plain'
        item.set_label('Yours')
        item.set_attributes({'application': 'other'})
        item.set_secret(b'new', 'application/x')
        assert item.get_label() == 'Yours' and item.get_secret() == b'new'
        assert item.get_secret_content_type() == 'application/x'
        assert [i.get_label() for i in collection.search_items({'application': 'other'})] == ['Yours']
        assert list(secretstorage.search_items(bus, {'application': 'test'})) == []
        assert collection.create_item('Again', {'application': 'other'}, b'r', replace=True) == item
        assert len(list(collection.get_all_items())) == 1 and not item.is_locked()
        session = secretstorage.Collection(bus, '/org/freedesktop/secrets/collection/session')
        passing = session.create_item('s', {'in': 'session'}, b's')
        assert passing.get_secret() == b's'
        passing.delete()
        new = secretstorage.create_collection(bus, 'Mine')
        assert new.get_label() == 'Mine' and len(list(secretstorage.get_all_collections(bus))) == 3
        new.set_label('Theirs')
        assert new.get_label() == 'Theirs'
        new.create_item('in it', {'a': 'b'}, b'x')
        new.delete()
        assert len(list(secretstorage.get_all_collections(bus))) == 2
        second = collection.create_item('second', {'n': '2'}, b'2')
        second.delete()
        assert [i.get_label() for i in collection.get_all_items()] == ['Again']
        print('done')
        """)
    #expect(made == "done\n")
    let locked = try stand.python(
      prelude + """
        item = next(collection.get_all_items())
        collection.lock()
        assert collection.is_locked() and item.is_locked()
        try: item.get_secret()
        except secretstorage.exceptions.LockedException: print('locked')
        """)
    #expect(locked == "locked\n")
    let waiting = try stand.begin(
      "/usr/bin/python3", "-c",
      prelude + """
        assert collection.unlock() is False
        print(next(collection.get_all_items()).get_secret())
        """)
    try stand.unlock()
    let opened = try waiting.outcome()
    #expect(opened.output == "b'r'\n", "\(opened)")
    try stand.restart()
    let cold = try ["other", "none"].map { word in
      try stand.begin(
        "/usr/bin/python3", "-c",
        prelude + """
          found = list(secretstorage.search_items(bus, {'application': '\(word)'}))
          assert len(found) == 1 and found[0].is_locked()
          assert found[0].unlock() is False
          print([item.get_secret() for item in secretstorage.search_items(bus, {'application': '\(word)'})])
          """)
    }
    try stand.unlock()
    let found = try cold.map { try $0.outcome() }
    #expect(found.map(\.output) == ["[b'r']\n", "[]\n"], "\(found)")
  }

  @Test(
    "Python's keyring sets, finds, replaces and deletes, and waits for the first unlock",
    .enabled(if: SecretServiceStand.hasModule("keyring"), "needs python3-keyring")) func keyring() throws
  {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let prelude = """
      from keyring.backends import SecretService
      keyring = SecretService.Keyring()

      """
    let made = try stand.python(
      prelude + """
        assert keyring.get_password('s', 'ana') is None
        keyring.set_password('s', 'ana', 'first')
        keyring.set_password('s', 'ana', 'zweites ü')
        keyring.set_password('s\\n', 'a\\tb', 'odd')
        assert keyring.get_password('s', 'ana') == 'zweites ü'
        assert keyring.get_password('s\\n', 'a\\tb') == 'odd'
        found = keyring.get_credential('s', None)
        assert (found.username, found.password) == ('ana', 'zweites ü')
        keyring.delete_password('s\\n', 'a\\tb')
        assert keyring.get_password('s\\n', 'a\\tb') is None
        print('done')
        """)
    #expect(made == "done\n")
    try stand.restart()
    let waiting = try stand.begin(
      "/usr/bin/python3", "-c", prelude + "print(keyring.get_password('s', 'ana'))\nkeyring.delete_password('s', 'ana')"
    )
    try stand.unlock()
    let outcome = try waiting.outcome()
    #expect(outcome.output == "zweites ü\n", "\(outcome)")
    #expect(try stand.sandbox.must(["list", "secret-service"]).isEmpty)
  }

  // MARK: libsecret

  @Test(
    "libsecret, asked in each way, encrypted, waiting and not",
    .enabled(if: SecretServiceStand.hasModule("gi; gi.require_version('Secret', '1')"), "needs gir1.2-secret-1"))
  func libsecret() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let script = Repository.root.appending(path: "Tests/SecretService/introspected.py").path
    let unlock = "printf '%s\\n' '\(password)' | \(Sandbox.path(of: "vault")) unlock --password-stdin"
    let outcome = try stand.run("/usr/bin/python3", script, unlock)
    #expect(outcome.status == 0 && outcome.output == "done\n", "\(outcome)")
  }

  @Test(
    "libsecret waits for the first unlock, and finds what there is and nothing else",
    .enabled(if: SecretServiceStand.hasModule("gi; gi.require_version('Secret', '1')"), "needs gir1.2-secret-1"))
  func coldLibsecret() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let prelude = """
      import gi
      gi.require_version('Secret', '1')
      from gi.repository import Secret
      kinds = {'text': Secret.SchemaAttributeType.STRING}
      schema = Secret.Schema.new('org.example.Test', Secret.SchemaFlags.NONE, kinds)

      """
    let stored = try stand.python(
      prelude + """
        print(Secret.password_store_sync(schema, {'text': 'a'}, Secret.COLLECTION_DEFAULT, 'label', 'first', None))
        """)
    #expect(stored == "True\n")
    try stand.restart()
    let search = """
      flags = Secret.SearchFlags.ALL | Secret.SearchFlags.UNLOCK | Secret.SearchFlags.LOAD_SECRETS
      service = Secret.Service.get_sync(Secret.ServiceFlags.NONE, None)
      print([item.get_secret().get_text() for item in service.search_sync(schema, {'text': 'a'}, flags, None)])
      """
    let cold = try [
      "print(Secret.password_lookup_sync(schema, {'text': 'a'}, None))",
      "print(Secret.password_lookup_sync(schema, {'text': 'none'}, None))", search,
    ].map { try stand.begin("/usr/bin/python3", "-c", prelude + $0) }
    try stand.unlock()
    let found = try cold.map { try $0.outcome() }
    #expect(found.map(\.output) == ["first\n", "None\n", "['first']\n"], "\(found)")
  }

  // MARK: Conformance

  /// The lines of a run of the conformance program that tell an answer.
  private static func answers(_ text: String) -> [Substring] {
    text.split(separator: "\n").filter { line in ["ok ", "differs ", "refused "].contains(where: line.hasPrefix) }
  }

  @Test("the table of vault-secret-service(7) has the numbers of `expected.txt`") func table() throws {
    let text = try String(
      contentsOf: Repository.root.appending(path: "Tests/SecretService/expected.txt"), encoding: .utf8)
    let page = try String(
      contentsOf: Repository.root.appending(path: "man/vault-secret-service.7"), encoding: .utf8)
    var counts: [Substring: (ok: Int, all: Int)] = [:]
    for line in Self.answers(text) {
      let topic = line.dropFirst(9).prefix { $0 != ":" }
      for key in [topic, "all"] {
        counts[key, default: (0, 0)].all += 1
        if line.hasPrefix("ok ") { counts[key, default: (0, 0)].ok += 1 }
      }
    }
    #expect(counts.count > 5)
    for (topic, count) in counts {
      #expect(page.contains(".It \(topic) Ta \(count.ok) of \(count.all) Ta "), "\(topic) \(count)")
    }
  }

  @Test(
    "conforms to the draft, as far as `expected.txt` says",
    .enabled(if: SecretServiceStand.hasModule("dbus, cryptography"), "needs python3-dbus and python3-cryptography"))
  func conformance() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let folder = Repository.root.appending(path: "Tests/SecretService")
    let vault = Sandbox.path(of: "vault")
    let ask = "busctl --address=\"$DBUS_SESSION_BUS_ADDRESS\" call org.freedesktop.DBus / org.freedesktop.DBus"
    let isThere = "\(ask) NameHasOwner s \(OtherKeyring.name) | grep -q true"
    let restart = """
      kill $(\(ask) GetConnectionUnixProcessID s \(OtherKeyring.name) | tr -dc 0-9); while \(isThere); do :; done
      until \(isThere); do \(vault) list </dev/null >/dev/null 2>&1; done
      """
    let outcome = try stand.run(
      "/usr/bin/python3", folder.appending(path: "conformance.py").path, "--many", "100", "--lock", "\(vault) lock",
      "--unlock", "printf '%s\\n' '\(password)' | \(vault) unlock --password-stdin", "--restart", restart)
    let expected = try String(contentsOf: folder.appending(path: "expected.txt"), encoding: .utf8)
    #expect(outcome.output == expected, "\(outcome)")
  }

  /// A Secret Service that knows no call, or that to open a session alone; `plain` is refused in one way.
  private static let hollowService = """
    import sys, dbus, dbus.service, dbus.mainloop.glib
    from gi.repository import GLib
    way = sys.argv[1]
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    class Service(dbus.service.Object):
      @dbus.service.method('org.freedesktop.Secret.Service', in_signature='sv', out_signature='vo')
      def OpenSession(self, algorithm, input):
        if way == 'encrypted' and algorithm == 'plain':
          raise dbus.DBusException('no', name='org.freedesktop.DBus.Error.NotSupported')
        output = dbus.String('', variant_level=1)
        if algorithm != 'plain': output = dbus.ByteArray(b'x' * 128, variant_level=1)
        return output, dbus.ObjectPath('/org/freedesktop/secrets/session/1')
    kept = [Service(bus, '/org/freedesktop/secrets')] if way != 'nothing' else []
    name = dbus.service.BusName('org.freedesktop.secrets', bus, do_not_queue=True)
    GLib.MainLoop().run()

    """

  @Test(
    "the conformance program asks all of its questions, whatever a service refuses",
    .enabled(if: SecretServiceStand.hasModule("dbus, cryptography"), "needs python3-dbus and python3-cryptography"),
    arguments: ["nothing", "encrypted", "sessions"]) func hollow(_ way: String) throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    try bus.program(OtherKeyring.name, "/usr/bin/python3", ["-B", "-c", Self.hollowService, way])
    let folder = Repository.root.appending(path: "Tests/SecretService")
    let options = ["--many", "3", "--patience", "0.05", "--lock", "true", "--unlock", "true", "--restart", "true"]
    let outcome = try sandbox.run(
      ["-B", folder.appending(path: "conformance.py").path] + options, program: "/usr/bin/python3",
      environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    #expect(outcome.status == 0 && outcome.output.contains("\nall "), "\(outcome)")
    let expected = try String(contentsOf: folder.appending(path: "expected.txt"), encoding: .utf8)
    #expect(Self.answers(outcome.output).count == Self.answers(expected).count, "\(outcome)")
  }
}

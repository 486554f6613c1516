import Foundation
import Glibc
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// Everything that programs of the desktop have sent, asked for and got must be gone from the daemon's memory after a
/// lock.
@Suite(
  "The memory of a daemon that serves the Secret Service",
  .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct SecretServiceMemoryTests {
  /// A Python program that uses the Secret Service while the vault is unlocked and while it is locked. It tells its
  /// steps by files in its folder, and stays connected to the end.
  private static let program = """
    import os, sys, time, dbus, dbus.bus, secretstorage
    FOLDER, ADDRESS, words = sys.argv[1], sys.argv[2], dict(zip(*[iter(sys.argv[3:])] * 2))
    NAME, ROOT = 'org.freedesktop.secrets', '/org/freedesktop/secrets'
    LOGIN, SESSION = ROOT + '/collection/login', ROOT + '/collection/session'
    PORTAL, IMPL = '/org/freedesktop/portal/desktop', 'org.freedesktop.impl.portal.Secret'
    SERVICE, ITEM = 'org.freedesktop.Secret.Service', 'org.freedesktop.Secret.Item'
    bus = dbus.bus.BusConnection(ADDRESS)
    bus.request_name('org.freedesktop.portal.Desktop', 4)
    def call(path, interface, member, signature='', *values):
      return bus.call_blocking(NAME, path, interface, member, signature, values)
    def tell(step, text=''):
      open(FOLDER + '/' + step + '.new', 'w').write(text)
      os.rename(FOLDER + '/' + step + '.new', FOLDER + '/' + step)
    def await_(step):
      while not os.path.exists(FOLDER + '/' + step): time.sleep(0.02)
    while not bus.name_has_owner(NAME): time.sleep(0.02)
    # plain
    session = call(ROOT, SERVICE, 'OpenSession', 'sv', 'plain', dbus.String('', variant_level=1))[1]
    def create(collection, kind):
      properties = dbus.Dictionary({
        ITEM + '.Label': dbus.String(words[kind + ' label'], variant_level=1),
        ITEM + '.Attributes': dbus.Dictionary({words[kind + ' key']: words[kind + ' value']}, variant_level=1,
          signature='ss')}, signature='sv')
      secret = dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(words[kind + ' secret'].encode()),
        'text/plain'), signature='oayays')
      return call(collection, 'org.freedesktop.Secret.Collection', 'CreateItem', 'a{sv}(oayays)b', properties, secret,
        False)[0]
    for kind, collection in [('plain', LOGIN), ('passing', SESSION)]:
      item = create(collection, kind)
      found = call(ROOT, SERVICE, 'SearchItems', 'a{ss}', {words[kind + ' key']: words[kind + ' value']})
      assert list(found[0]) == [item], found
      assert bytes(call(item, ITEM, 'GetSecret', 'o', session)[2]).decode() == words[kind + ' secret']
      assert len(call(ROOT, SERVICE, 'GetSecrets', 'aoo', [item], session)) == 1
      assert call(item, 'org.freedesktop.DBus.Properties', 'GetAll', 's', ITEM)['Label'] == words[kind + ' label']
    # encrypted
    other = secretstorage.dbus_init()
    collection = secretstorage.get_default_collection(other)
    item = collection.create_item(words['agreed label'], {words['agreed key']: words['agreed value']},
      words['agreed secret'].encode())
    found = list(collection.search_items({words['agreed key']: words['agreed value']}))
    assert [i.get_secret().decode() for i in found] == [words['agreed secret']]
    # the portal
    def retrieve(app, count, ignored=False):
      read, write = os.pipe()
      arguments = (PORTAL + '/request/1_1/t%d' % count, words[app], dbus.types.UnixFd(write),
        dbus.Dictionary({}, signature='sv'))
      if ignored: return bus.call_async(NAME, PORTAL, IMPL, 'RetrieveSecret', 'osha{sv}', arguments, None, None)
      assert call(PORTAL, IMPL, 'RetrieveSecret', 'osha{sv}', *arguments)[0] == 0
      return os.read(read, 100).hex()
    tell('unlocked', retrieve('first app', 1))
    await_('locked')
    # Searches, prompts and wishes of a vault that hides names
    found = call(ROOT, SERVICE, 'SearchItems', 'a{ss}', {words['sought key']: words['sought value']})
    prompt = call(ROOT, SERVICE, 'Unlock', 'ao', found[1])[1]
    call(prompt, 'org.freedesktop.Secret.Prompt', 'Prompt', 's', '')
    properties = dbus.Dictionary(
      {'org.freedesktop.Secret.Collection.Label': dbus.String(words['sought label'], variant_level=1)}, signature='sv')
    prompt = call(ROOT, SERVICE, 'CreateCollection', 'a{sv}s', properties, '')[1]
    call(prompt, 'org.freedesktop.Secret.Prompt', 'Prompt', 's', '')
    retrieve('second app', 2, ignored=True)
    call(ROOT, SERVICE, 'ReadAlias', 's', 'default')
    tell('asked')
    await_('end')
    """

  private static let kinds = ["plain", "passing", "agreed", "sought"]

  private static func randomWords() -> [String: String] {
    var words: [String: String] = [:]
    for kind in kinds {
      for part in ["label", "key", "value", "secret"] { words["\(kind) \(part)"] = KeyStage.word() }
    }
    // Not used: nobody seeks a secret by itself.
    words["sought secret"] = nil
    for app in ["first app", "second app"] { words[app] = "org.example." + KeyStage.word() }
    return words
  }

  /// The random key of the session's collection, which the daemon has also wrapped under a key of the vault.
  private func sessionKey(_ sandbox: Sandbox, _ password: String, in memory: MemorySearch) throws -> [UInt8] {
    let hierarchy = try KeyHierarchy(of: sandbox, KeyHierarchy.Secrets(password: password))
    let secret = try #require(hierarchy.keys["after-first-unlock session"])
    let wrapping = secret.withSpan { SecureBytes(copying: $0) }
    let copy = sandbox.root + "/vault-id"
    try FileManager.default.copyItem(atPath: sandbox.store, toPath: copy)
    try? FileManager.default.removeItem(atPath: copy + "/vault.lock")
    let vault = try Keychain(opening: copy).vaultID
    var key: [UInt8]?
    _ = memory.window(of: AEAD.keyCount + AEAD.overhead) { wrapped in
      // A nonce is random, and most of memory is zero.
      guard wrapped.prefix(24).count(where: { $0 == 0 }) < 4 else { return false }
      let opened = Array(wrapped).withSpan { wrapped in
        vault.withSpan { try? AEAD.open(wrapped, key: wrapping, associatedData: $0) }
      }
      switch consume opened {
      case .some(let opened): key = opened.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
      case .none: return false
      }
      return true
    }
    return try #require(key)
  }

  @Test(
    "has no value after any lock, with hide-names nothing that tells an item, and no key of the session after a sleep",
    .enabled(if: hasModules(), "needs python3-dbus and python3-secretstorage"))
  func locked() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let bus = try PrivateBus(.session, in: sandbox)
    let clock = try MachineClock(in: sandbox)
    let password = KeyStage.word()
    _ = try sandbox.makeVault(
      password: password, config: "idle = off\nhide-names = true\nsecret-service = on\npam-service = vault-test-none",
      environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    try sandbox.unlock(password)
    let pid = try #require(sandbox.daemonPid)
    let words = Self.randomWords()
    let begun = Begun(
      sandbox,
      ["DBUS_SESSION_BUS_ADDRESS=" + bus.address, "/usr/bin/python3", "-c", Self.program, sandbox.home, bus.address]
        + words.flatMap { [$0.key, $0.value] }, program: "/usr/bin/env")
    func step(_ name: String) throws -> String {
      try wait(for: name) { FileManager.default.fileExists(atPath: sandbox.home + "/" + name) }
      return try String(contentsOfFile: sandbox.home + "/" + name, encoding: .utf8)
    }
    func tell(_ name: String) throws { try Data().write(to: URL(fileURLWithPath: sandbox.home + "/" + name)) }
    let hex = Array(try step("unlocked"))
    var secrets = words.mapValues { Array($0.utf8) }
    secrets["secret of the first app"] = stride(from: 0, to: hex.count, by: 2).compactMap {
      UInt8(String(hex[$0..<$0 + 2]), radix: 16)
    }
    #expect(secrets["secret of the first app"]?.count == 64)

    // The positive control: the search finds the key that opens the session's items.
    let unlocked = try MemorySearch(pid: pid)
    let key = try sessionKey(sandbox, password, in: unlocked)
    #expect(unlocked.find(key) == ["raw"])

    // An item of this class has the searches wait for an unlock.
    let client = try sandbox.client()
    let hidden = ["name": "secret-service/login/hidden", "value": "v", "accessible": "when-unlocked"]
    #expect(try client.call("Set", hidden).error == nil)
    #expect(try client.call("Lock").error == nil)
    func expectNothing(_ when: String, _ keys: [String: [UInt8]] = [:]) throws {
      let wanted = secrets.merging(keys) { $1 }
      // The memory of a turn of the loop is dropped at its end, which may come a moment after an answer.
      var found = try MemorySearch(pid: pid).findForms(of: wanted)
      for _ in 0..<5 where !found.isEmpty { found = try MemorySearch(pid: pid).findForms(of: wanted) }
      #expect(found.isEmpty, "\(when): \(found)")
    }
    try expectNothing("after the lock")
    try tell("locked")
    _ = try step("asked")
    try wait(for: "the prompts") { try client.call("Status").integer("prompts") == 3 }
    try expectNothing("while locked, with prompts")
    #expect(try MemorySearch(pid: pid).find(key) == ["raw"])
    try clock.sleep(seconds: 60)
    #expect(try client.call("Status").error == nil)
    try expectNothing("after the sleep", ["the session's key": key])
    try tell("end")
    let outcome = try begun.outcome()
    #expect(outcome.status == 0, "\(outcome)")
  }

  private static func hasModules() -> Bool {
    guard let sandbox = try? Sandbox() else { return false }
    defer { sandbox.close() }
    let outcome = try? sandbox.run("-c", "import dbus, secretstorage", program: "/usr/bin/python3")
    return outcome?.status == 0
  }
}

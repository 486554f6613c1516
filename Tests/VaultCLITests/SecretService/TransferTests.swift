import Foundation
import Glibc
import Testing
import VaultTesting

@Suite(
  "Import and export",
  .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/gnome-keyring-daemon"), "needs gnome-keyring"),
  .enabled(if: SecretServiceStand.hasModule("dbus"), "needs python3-dbus"))
struct TransferTests {
  /// Odd items: attributes with every kind of text and as long as they may be, empty and large secrets. GNOME Keyring
  /// gives items a schema when it reads its file anew, for which there is room. The two that are alike have it from the
  /// beginning, because the file may be read between them.
  private static let odd = #"""
    work = collection('Work é')
    alike = {'n': '1', 'xdg:schema': 'org.freedesktop.Secret.Generic'}
    item(login, 'plain', {'server': 'a', 'user': 'ana', 'value': 'v', 'uri': 'u', 'attr:x': '1'}, b'one')
    item(login, 'two\nlines', {'': '', 'tab\tkey': 'line\nbreak', 'é': 'e\u0301', 'e\u0301': 'x'}, b'odd')
    item(login, 'empty', {'x': 'empty'}, b'')
    item(login, 'quotes', {'x': 'quotes'}, b'"' * (1 << 20))
    item(login, 'binary', {'x': 'binary'}, bytes(range(256)) * 4096)
    item(login, 'long', {'x': 'v' * (65536 - 5 - len('xdg:schema') - len('org.freedesktop.Secret.Generic'))}, b'64k')
    item(work, 'w', alike, b'w1')
    item(work, 'w', alike, b'w2')
    """#

  @Test("an import and an export to another keyring keep every item, and a second one of either changes nothing")
  func roundTrip() throws {
    let stand = try TransferStand()
    defer { stand.close() }
    try stand.python(Self.odd)
    let trial = try stand.importAll("--dry-run")
    #expect(trial["copied"] == 8)
    #expect(try stand.sandbox.must(["list", "--flat"]).isEmpty)
    let first = try stand.importAll("--yes")
    #expect(first["copied"] == 8 && first["beside"] == 1)
    let stored = try stand.sandbox.must(["find", "name~**", "--json"])
    for (key, value) in [("attr:x", "1"), ("uri", "u"), ("value", "v")] {
      #expect(stored.contains(#"{"key":"\#(key)","value":"\#(value)"}"#), "\(stored)")
    }
    #expect(stored.contains(#""label":"Work é""#) && stored.contains(#""imported-from":"/org/freedesktop/secrets/"#))
    let again = try stand.importAll("--yes")
    #expect(again["copied"] == 0 && again["known"] == 8)
    #expect(try stand.sandbox.must(["find", "name~**", "--json"]) == stored)

    let elsewhere = try Sandbox()
    defer { elsewhere.close() }
    let bus = try PrivateBus(.session, in: elsewhere)
    let other = try OtherKeyring(in: elsewhere, on: bus)
    // Nobody is there to allow a collection.
    #expect(try stand.exportAll(on: bus, status: 75)["copied"] == 6)
    try stand.python("collection('Work é')", on: bus)
    let second = try stand.exportAll(on: bus)
    #expect(second["copied"] == 2 && second["present"] == 6)
    let third = try stand.exportAll(on: bus)
    #expect(third["copied"] == 0 && third["present"] == 8)
    #expect(try stand.items() == stand.items(on: bus))
    #expect(try stand.sandbox.must(["audit", "list"]).contains("8 items to the keyring at org.freedesktop.secrets"))
    withExtendedLifetime(other) {}
  }

  @Test("programs find what was imported, with its times, before what they make later") func served() throws {
    let stand = try TransferStand()
    defer { stand.close() }
    let made = try stand.python(
      """
      one = item(login, 'one', {'a': '1'}, b'first')
      item(login, 'portal', {'xdg:schema': 'org.freedesktop.portal.Secret', 'app_id': 'org.example.App'}, b'p' * 64)
      for n in range(12): item(login, f'{n:02}', {'o': '1'}, b'v')
      print(get(one, 'Item', 'Created'), get(one, 'Item', 'Modified'))
      """)
    #expect(try stand.importAll("--yes")["copied"] == 14)
    try stand.keyring.end()
    try stand.sandbox.configure("pam-service = vault-test-none\nsecret-service = on\n")
    try stand.sandbox.must(["reload"])
    try wait(for: "the name on the bus") {
      try stand.bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", OtherKeyring.name)
        == "b true"
    }
    let found = try stand.python(
      """
      item(login, 'two', {'a': '1', 'b': '2'}, b'second')
      items = service.SearchItems({'a': '1'})[0]
      print(get(items[0], 'Item', 'Created'), get(items[0], 'Item', 'Modified'))
      print([str(get(i, 'Item', 'Label')) for i in items])
      # GNOME Keyring tells its items in no order. Programs take the first hit.
      print(*[str(get(i, 'Item', 'Label')) for i in service.SearchItems({'o': '1'})[0]])
      """)
    #expect(found == made + "['one', 'two']\n00 01 02 03 04 05 06 07 08 09 10 11\n")
    #expect(try stand.sandbox.must(["find", "name~secret-service/login/*"]).split(separator: "\n").count == 15)
    // From here on, the keyring on the bus is this vault.
    for words in [["import", "--from"], ["export", "--to"]] {
      let outcome = try stand.run(words[0], words[1], "secret-service", "--yes")
      #expect(outcome.status == 64 && outcome.errors.contains("is this vault itself"), "\(outcome)")
    }
  }

  @Test("what cannot be copied is named, and the keys that vaults keep there are left out") func refused() throws {
    let stand = try TransferStand()
    defer { stand.close() }
    try stand.python(
      """
      item(login, 'fits', {'a': '1'}, b'v')
      item(login, 'too long', {'a': 'v' * 70000}, b'v')
      item(login, 'too many', {str(n): '' for n in range(257)}, b'v')
      item(login, 'too large', {'a': '2'}, b'v' * ((1 << 20) + 1))
      item(login, 'presence', {'xdg:schema': 'io.vaultd.PresenceKey', 'vault': '0', 'key': '1'}, b'k')
      """)
    let outcome = try stand.run("import", "--from", "secret-service", "--yes")
    #expect(outcome.status == 65)
    #expect(outcome.output.contains("`Login`: 1 item copied\n1 item left out: keys that a vault keeps"), "\(outcome)")
    for label in ["too long", "too many", "too large"] {
      #expect(outcome.output.contains("`\(label)` in `Login` not copied: it"), "\(outcome)")
    }
    // There is nothing to ask about.
    let unasked = try stand.run("import", "--from", "secret-service")
    #expect(unasked.status == 65 && unasked.output.contains("1 item copied earlier"), "\(unasked)")
    try stand.python("item(login, 'new', {'b': '1'}, b'v')")
    #expect(try stand.run("import", "--from", "secret-service").status == 75)
  }

  @Test("a collection that stays locked is left out, and comes with the next import") func locked() throws {
    let stand = try TransferStand()
    defer { stand.close() }
    let path = try stand.python(
      """
      shut = collection('Shut')
      item(shut, 's', {'a': '1'}, b'v')
      item(login, 'l', {'a': '1'}, b'v')
      service.Lock([shut])
      print(shut)
      """
    ).trimmingCharacters(in: .newlines)
    let outcome = try stand.run("import", "--from", "secret-service", "--yes")
    #expect(outcome.status == 75 && outcome.output.contains("`Shut`: left out, it is locked"), "\(outcome)")
    try stand.python("open_up('\(path)')")
    let next = try stand.importAll("--yes")
    #expect(next["copied"] == 1 && next["known"] == 1)
  }

  @Test("an import waits for the prompt of a locked keyring, and goes on once a person has answered it")
  func prompted() throws {
    // The other keyring is another vault.
    let other = try SecretServiceStand()
    defer { other.close() }
    let stored = try other.run("secret-tool", "store", "--label=one", "a", "1", stdin: "first")
    try #require(stored.status == 0, "\(stored)")
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let words = ["import", "--from", "secret-service", "--yes"]
    func begin() throws -> Begun {
      try other.restart()
      return try other.begin(Sandbox.path(of: "vault"), words[0], words[1], words[2], words[3], in: sandbox)
    }
    let refused = try begin()
    let told = try JSONSerialization.jsonObject(with: Data(try other.sandbox.must(["requests", "--json"]).utf8))
    let number = try #require((told as? [String: Any])?["number"] as? Int)
    try other.sandbox.must(["refuse", "\(number)", "--yes"])
    let left = try refused.outcome()
    #expect(left.status == 75 && left.output.contains("`Login`: left out, it is locked"), "\(left)")
    let answered = try begin()
    try other.unlock()
    let taken = try answered.outcome()
    #expect(taken.status == 0 && taken.output.contains("`Login`: 1 item copied"), "\(taken)")
    let name = try sandbox.must(["list", "--flat", "secret-service/login"]).trimmingCharacters(in: .newlines)
    #expect(try sandbox.must(["get", name]) == "first")
  }

  @Test("an import that is killed goes on where it ended") func interrupted() throws {
    let stand = try TransferStand()
    defer { stand.close() }
    try stand.python("for n in range(500): item(login, f'{n:03}', {'n': str(n)}, b'v')")
    let cut = """
      vault import --from secret-service --yes >/dev/null 2>&1 & p=$!
      until vault list secret-service/login 2>/dev/null | grep -q .; do :; done
      kill -9 $p
      """
    try stand.sandbox.run(
      ["-c", cut], program: "/bin/sh", environment: ["DBUS_SESSION_BUS_ADDRESS": stand.bus.address])
    let count = try stand.sandbox.must(["list", "--flat", "secret-service/login"]).split(separator: "\n").count
    let rest = try stand.importAll("--yes")
    #expect(rest["known"] == count && rest["copied"] == 500 - count)
    let items = try stand.sandbox.must(["find", "name~secret-service/login/*"]).split(separator: "\n")
    #expect(items.count == 500)
  }

  private static let collection = #"{"collections":[{"path":"/a","label":"a","locked":false,"aliases":["login"]}]}"#
  private static let listed = collection + #"|{"path":"/a/1","created":1}&{"done":true}|"#

  private static let item = #"{"label":"","type":"","created":0,"modified":0,"value":"v","attributes":"#
  /// The words of a program in the place of vault-keyring, and the exit code.
  private static let lies: [(said: String, status: Int32)] = [
    ("", 69), ("x", 70), ("{}", 70), (#"{"done":true}"#, 70), (#"{"error":"refused","reason":"a\u001b[2Jb"}"#, 64),
    (#"{"collections":[{"path":"\u0000","label":"\u0000","locked":true,"aliases":[]}]}"#, 69),
    ("\(collection)|{\"made\":1}", 70), ("\(collection)|{\"path\":\"/a/1\",\"created\":1}&{\"path\":\"/a/2\"}", 70),
    ("\(listed){\"done\":true}", 70), ("\(listed)\(item)[{\"key\":\"\\u0000\",\"value\":\"\"}]}", 65),
    ("\(listed)\(item)[{\"key\":\"a\",\"value\":\"\"},{\"key\":\"a\",\"value\":\"\"}]}", 65),
  ]

  @Test("whatever stands in the place of vault-keyring, nothing is stored", arguments: lies.indices)
  func hostile(_ index: Int) throws {
    let (said, status) = Self.lies[index]
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let own = sandbox.home + "/vault"
    let copy = "ln \(Sandbox.path(of: "vault")) \(own) 2>/dev/null || cp \(Sandbox.path(of: "vault")) \(own)"
    try #require(try sandbox.run(["-c", copy], program: "/bin/sh").status == 0)
    let script = """
      #!/usr/bin/python3 -B
      import os
      said = r'''\(said)'''
      for part in said.split('|') if said else []:
        os.read(0, 65536)
        os.write(0, part.replace('&', '\\0').encode() + b'\\0')
      if said: os.read(0, 65536)
      """
    let program = try sandbox.write(script, to: "vault-keyring")
    try #require(unsafe chmod(program, 0o700) == 0)
    let before = try sandbox.must(["find", "name~**", "--json"])
    let outcome = try sandbox.run(["import", "--from", "secret-service", "--yes"], program: own)
    #expect(outcome.status == status && !outcome.errors.contains("\u{1B}"), "\(outcome)")
    #expect(try sandbox.must(["find", "name~**", "--json"]) == before)
  }
}

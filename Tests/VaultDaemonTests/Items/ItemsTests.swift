import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Items over the socket") struct ItemsTests {
  private let password = "correct horse battery"

  private func withClient(_ body: (Sandbox, WireClient) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    try body(sandbox, try sandbox.client())
  }

  @Test("any bytes come back as they went in: as text where it is text, else as base64") func exactBytes() throws {
    try withClient { (_, client) throws in
      #expect(try client.call("Set", ["name": "text", "value": "tab\t\r\n\"q\\ é 😀"]).error == nil)
      #expect(try client.call("Get", ["name": "text"]).string("value") == "tab\t\r\n\"q\\ é 😀")
      for bytes in [Data([0, 1, 2]), Data([0xFF]), Data("bell\u{7}".utf8), Data((0..<256).map { UInt8($0) })] {
        let set = try client.call(
          "Set", ["name": "bytes", "data": bytes.base64EncodedString(), "kind": "blob", "update": true])
        #expect(set.error == nil)
        let got = try client.call("Get", ["name": "bytes"])
        #expect(got.string("value") == nil)
        #expect(got.string("data") == bytes.base64EncodedString())
      }
    }
  }

  @Test("1 MiB goes through, a byte more does not") func largest() throws {
    try withClient { (_, client) throws in
      let most = String(repeating: "x", count: 1 << 20)
      #expect(try client.call("Set", ["name": "large", "value": most, "kind": "note"]).error == nil)
      #expect(try client.call("Get", ["name": "large"]).string("value") == most)
      let reply = try client.call("Set", ["name": "larger", "value": most + "x", "kind": "note"])
      #expect(reply.error == "TooLarge")
      #expect(reply.integer("limit") == 1 << 20)
      #expect(try client.call("Show", ["name": "larger"]).error == "NoSuchItem")
    }
  }

  @Test(
    "a name that is none is refused",
    arguments: [
      "", "/a", "a/", "a//b", "a/../b", "..", "./a", "a\nb", "a\u{0}b", "a\u{7F}", String(repeating: "x", count: 513),
    ])
  func badNames(_ name: String) throws {
    try withClient { (_, client) throws in
      for method in ["Get", "Show", "History"] {
        #expect(try client.call(method, ["name": name]).error == "InvalidName")
      }
      #expect(try client.call("Set", ["name": name, "value": "x"]).error == "InvalidName")
      #expect(try client.call("Delete", ["names": [name]]).error == "InvalidName")
      #expect(try client.call("Move", ["from": "a", "to": name]).error == "InvalidName")
    }
  }

  @Test("answers keep their order while the client reads and asks on, and the socket is now full and now is not")
  func manyAnswers() throws {
    try withClient { (_, client) throws in
      let values = (0..<10).map { String(repeating: "\($0)", count: $0 % 2 == 0 ? 60_000 : 64) }
      for (name, value) in values.enumerated() {
        #expect(try client.call("Set", ["name": "\(name)", "value": value]).error == nil)
      }
      func ask(_ number: Int) {
        client.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"\#(number % values.count)"}}"#)
      }
      // The replies to the calls sent ahead do not fit into a socket's buffer.
      let ahead = 30
      let count = 1000
      for number in 0..<ahead { ask(number) }
      for number in 0..<count {
        if number + ahead < count { ask(number + ahead) }
        let name = number % values.count
        let expected = #"{"parameters":{"name":"\#(name)","version":1,"value":"\#(values[name])"}}"#
        let isExpected = try client.receiveBytes() == Array(expected.utf8)
        try #require(isExpected, "answer \(number)")
      }
    }
  }

  @Test("an existing item is not overwritten unless asked, and keeps its versions") func versions() throws {
    try withClient { (_, client) throws in
      #expect(try client.call("Set", ["name": "a", "value": "one"]).integer("version") == 1)
      #expect(try client.call("Set", ["name": "a", "value": "two"]).error == "AlreadyExists")
      #expect(try client.call("Set", ["name": "a", "value": "two", "update": true]).integer("version") == 2)
      #expect(try client.call("Get", ["name": "a"]).string("value") == "two")
      #expect(try client.call("Get", ["name": "a", "version": 1]).string("value") == "one")
      #expect(try client.call("Get", ["name": "a", "version": 3]).error == "NoSuchVersion")
      let history = try client.call("History", ["name": "a"]).parameters["versions"] as? [WireClient.Message] ?? []
      #expect(history.map { $0["version"] as? Int } == [2, 1])
      #expect(history.map { $0["current"] as? Bool } == [true, false])
    }
  }

  @Test("many items are stored all or none, and the error names the one") func setMany() throws {
    try withClient { (_, client) throws in
      let good: [WireClient.Message] = (0..<50).map { ["name": "many/\($0)", "value": "v\($0)"] }
      #expect((try client.call("SetMany", ["items": good]).parameters["versions"] as? [Int])?.count == 50)
      let bad: [WireClient.Message] = [["name": "new", "value": "x"], ["name": "many/7", "value": "y"]]
      let reply = try client.call("SetMany", ["items": bad])
      #expect(reply.error == "AlreadyExists")
      #expect(reply.integer("failed") == 1)
      #expect(try client.call("Show", ["name": "new"]).error == "NoSuchItem")
      let named = try client.call(
        "SetMany", ["items": [["name": "ok", "value": "x"], ["name": "a//b", "value": "x"]]])
      #expect(named.error == "InvalidName")
      #expect(named.integer("failed") == 1)
    }
  }

  @Test("one call stores or deletes so many items, folders and attributes, and no more") func tooMuch() throws {
    try withClient { (_, client) throws in
      func items(_ count: Int, folders: Int = 0, attributes: Int = 0) -> [WireClient.Message] {
        (0..<count).map { index in
          [
            "name": String(repeating: "f/", count: folders) + "\(index)", "value": "v",
            "attributes": Dictionary(uniqueKeysWithValues: (0..<attributes).map { ("k\($0)", "v") }), "update": true,
          ]
        }
      }
      let note = String(repeating: "n", count: 1024)
      let wordy: [WireClient.Message] = (0..<128).map {
        ["name": "wordy \($0)", "value": "v", "attributes": ["note": note]]
      }
      for refused in [items(385), items(70, folders: 30), items(32, attributes: 63), wordy] {
        #expect(try client.call("SetMany", ["items": refused]).error == "TooMuch")
        #expect((try client.call("Find").parameters["items"] as? [Any])?.isEmpty == true)
      }
      #expect(try client.call("SetMany", ["items": items(128)]).error == nil)
      #expect(try client.call("SetMany", ["items": Array(wordy.prefix(60))]).error == nil)
      #expect(try client.call("SetMany", ["items": items(1, folders: 31, attributes: 64)]).error == nil)
      // Tags that an update removes count, too.
      let many = items(20, folders: 1, attributes: 60)
      #expect(try client.call("SetMany", ["items": many]).error == nil)
      #expect(try client.call("SetMany", ["items": many]).error == "TooMuch")
      #expect(try client.call("SetMany", ["items": Array(many.prefix(10))]).error == nil)
      let names = (0..<128).map { "\($0)" }
      #expect(try client.call("Delete", ["names": names + ["one more"]]).error == "TooMuch")
      #expect(try client.call("Delete", ["names": names]).error == nil)
      let tagged = items(128, folders: 2, attributes: 3)
      #expect(try client.call("SetMany", ["items": tagged]).error == nil)
      #expect(try client.call("Delete", ["names": tagged.compactMap { $0["name"] as? String }]).error == nil)
      // A call may make more items than it may change or delete.
      let new = (0..<384).map { ["name": "new \($0)", "value": "v"] as WireClient.Message }
      #expect(try client.call("SetMany", ["items": new.map { $0.merging(["update": true]) { $1 } }]).error == "TooMuch")
      #expect(try client.call("SetMany", ["items": new]).error == nil)
    }
  }

  @Test("one call seals so many older versions again, and no more") func tooManyVersions() throws {
    try withClient { (_, client) throws in
      func items(_ more: WireClient.Message) -> [WireClient.Message] {
        (0..<75).map { ["name": "\($0)", "update": true].merging(more) { $1 } }
      }
      for version in 1...10 {
        #expect(try client.call("SetMany", ["items": items(["value": "\(version)"])]).error == nil)
      }
      let moved = items(["accessible": "always"])
      #expect(try client.call("SetMany", ["items": moved]).error == "TooMuch")
      #expect(try client.call("SetMany", ["items": Array(moved.prefix(70))]).error == nil)
      // The versions of these need not be sealed again.
      #expect(try client.call("SetMany", ["items": Array(moved.prefix(70)) + moved.suffix(5)]).error == nil)
    }
  }

  @Test("one call has so much computed with keys, and no more; one key in any case") func tooManyKeys() throws {
    try withClient { (_, client) throws in
      func keys(_ count: Int, _ style: String, _ more: WireClient.Message = [:]) -> [WireClient.Message] {
        (0..<count).map {
          ["name": "\(style) \($0)", "use": "sign", "generate": ["style": style]].merging(more) { $1 }
        }
      }
      let reply = try client.call("SetMany", ["items": keys(128, "p256")])
      #expect(reply.error == "TooMuch" && reply.string("reason")?.contains("at most 5 ms") == true)
      #expect(try client.call("SetMany", ["items": keys(32, "ed25519")]).error == "TooMuch")
      #expect((try client.call("Find").parameters["items"] as? [Any])?.isEmpty == true)
      #expect(try client.call("SetMany", ["items": keys(2, "p256")]).error == nil)
      #expect(try client.call("SetMany", ["items": keys(24, "ed25519")]).error == nil)
      // A given key is checked like a generated one.
      let given = try #require(try client.call("Get", ["name": "p256 0"]).string("value"))
      func stored(_ count: Int, _ more: WireClient.Message) -> [WireClient.Message] {
        (0..<count).map { ["name": "given \($0)", "value": given].merging(more) { $1 } }
      }
      for use in ["sign", "ssh", "jwt"] {
        let error = try client.call("SetMany", ["items": stored(3, ["use": use])]).error
        #expect(error == "TooMuch", "\(use)")
      }
      #expect(try client.call("SetMany", ["items": stored(2, ["use": "jwt"])]).error == nil)
      // A change of the attributes checks the key again, and a change of the value checks the new key for the item's
      // use.
      let again: [WireClient.Message] = (0..<2).map {
        ["name": "given \($0)", "attributes": ["a": "b"], "update": true]
      }
      #expect(try client.call("SetMany", ["items": again + again]).error == "TooMuch")
      #expect(try client.call("SetMany", ["items": stored(2, ["update": true]) + again]).error == "TooMuch")
      // The same holds for an item that the call itself has made.
      let made: [WireClient.Message] = [["name": "twice", "use": "jwt", "generate": ["style": "ed25519"]]]
      let values: [WireClient.Message] = (0..<3).map { _ in ["name": "twice", "value": given, "update": true] }
      #expect(try client.call("SetMany", ["items": made + values]).error == "TooMuch")
      // A value that is no key is only stored; a key for another program is checked, too.
      #expect(try client.call("SetMany", ["items": stored(64, ["kind": "note", "name": "note"])]).error != "TooMuch")
      #expect(try client.call("SetMany", ["items": stored(64, ["kind": "tls-key", "name": "tls"])]).error == "TooMuch")
    }
  }

  @Test("one call has so much made and looked at, and no more") func tooManyValues() throws {
    try withClient { (_, client) throws in
      func items(_ count: Int, _ more: WireClient.Message) -> [WireClient.Message] {
        (0..<count).map { ["name": "\($0)"].merging(more) { $1 } }
      }
      let uri = "otpauth://totp/a?secret=MFRGGZDFMZTWQ2LK"
      let dashes = String(repeating: "-----\n", count: 1700)
      let password: WireClient.Message = ["generate": ["style": "password", "length": 1024]]
      for refused in [
        items(51, ["kind": "totp", "value": uri]), items(13, ["kind": "certificate", "value": dashes]),
        items(128, ["generate": ["style": "phrase", "length": 64]]),
      ] {
        let reply = try client.call("SetMany", ["items": refused])
        #expect(reply.error == "TooMuch" && reply.string("reason")?.contains("at most 5 ms") == true, "\(reply)")
      }
      #expect(try client.call("SetMany", ["items": items(50, ["kind": "totp", "value": uri])]).error == nil)
      let again = items(50, ["attributes": ["a": "b"], "update": true])
      #expect(try client.call("SetMany", ["items": again]).error == nil)
      #expect(try client.call("SetMany", ["items": again + again.prefix(1)]).error == "TooMuch")
      let passwords = (0..<128).map { password.merging(["name": "password \($0)"]) { $1 } }
      #expect(try client.call("SetMany", ["items": passwords]).error == nil)
    }
  }

  @Test("large values that are there are deleted in several calls, one in any case") func tooManyBytes() throws {
    try withClient { (_, client) throws in
      let value = String(repeating: "x", count: 1 << 20)
      for version in 1...10 {
        #expect(try client.call("Set", ["name": "large", "value": value, "update": version > 1]).error == nil)
      }
      #expect(try client.call("Set", ["name": "small", "value": "v"]).error == nil)
      #expect(try client.call("Delete", ["names": ["large", "small"]]).error == "TooMuch")
      #expect(try client.call("Delete", ["names": ["small"]]).error == nil)
      // A change of the policy seals all versions again; a new value alone seals only the current version.
      let others: [WireClient.Message] = [["name": "other", "value": "v"]]
      func change(_ fields: WireClient.Message) -> [WireClient.Message] {
        others + [fields.merging(["name": "large", "update": true]) { $1 }]
      }
      #expect(try client.call("Set", ["name": "large2", "value": value]).error == nil)
      let both = change(["accessible": "always"]) + [["name": "large2", "accessible": "always", "update": true]]
      #expect(try client.call("SetMany", ["items": both]).error == "TooMuch")
      #expect(try client.call("SetMany", ["items": change(["value": "v"])]).error == nil)
      #expect(try client.call("Delete", ["names": ["large"]]).error == nil)
    }
  }

  @Test("find streams pages with `more`, and gives a page and a mark without") func find() throws {
    try withClient { (_, client) throws in
      let items: [WireClient.Message] = (0..<250).map {
        ["name": "f/\($0)", "value": "v", "attributes": ["owner": $0 % 50 == 0 ? "ana" : "bo"]]
      }
      for part in [items[..<125], items[125...]] {
        #expect(try client.call("SetMany", ["items": Array(part)]).error == nil)
      }
      var names: Set<String> = []
      var reply = try client.call("Find", ["query": "name~f/*"], more: true)
      while true {
        for item in reply.parameters["items"] as? [WireClient.Message] ?? [] {
          names.insert(item["name"] as? String ?? "")
        }
        guard reply.continues else { break }
        reply = try client.reply()
      }
      #expect(names.count == 250)
      var paged: [String] = []
      var after: String?
      repeat {
        let page = try client.call("Find", after.map { ["after": $0] } ?? [:])
        paged += (page.parameters["items"] as? [WireClient.Message] ?? []).compactMap { $0["name"] as? String }
        after = page.string("next")
      } while after != nil
      #expect(Set(paged) == names)
      #expect(paged.count == 250)
      let owned = try client.call("Find", ["query": "owner=ana"]).parameters["items"] as? [Any]
      #expect(owned?.count == 5)
      #expect((try client.call("Find", ["limit": 3]).parameters["items"] as? [Any])?.count == 3)
      #expect(try client.call("Find", ["query": "a =="]).error == "InvalidQuery")
      #expect(try client.call("Find", ["limit": 0]).error == "org.varlink.service.InvalidParameter")
      // A value that no reply gave as `next` is no cursor.
      let places: [Any] = [
        4, -1, "", "4", "0", "000000000000000G", "+000000000000004", "0000000000000004 ", "ffffffffffffffff",
      ]
      for place in places {
        let reply = try client.call("Find", ["after": place])
        #expect(reply.error == "org.varlink.service.InvalidParameter", "\(place)")
        #expect(reply.string("parameter") == "after", "\(place)")
      }
    }
  }

  @Test("delete takes all or none; move keeps what the item is") func deleteAndMove() throws {
    try withClient { (_, client) throws in
      for name in ["a", "b", "c"] {
        #expect(try client.call("Set", ["name": name, "value": name, "attributes": ["k": "v"]]).error == nil)
      }
      let missing = try client.call("Delete", ["names": ["a", "nothing", "b"]])
      #expect(missing.error == "NoSuchItem")
      #expect(missing.string("name") == "nothing")
      #expect(try client.call("Get", ["name": "a"]).error == nil)
      #expect(try client.call("Move", ["from": "a", "to": "b"]).error == "AlreadyExists")
      #expect(try client.call("Move", ["from": "a", "to": "d/e"]).error == nil)
      #expect(try client.call("Get", ["name": "d/e"]).string("value") == "a")
      #expect(try client.call("Get", ["name": "a"]).error == "NoSuchItem")
      #expect(try client.call("Delete", ["names": ["b", "c"]]).error == nil)
      #expect(try client.call("Status").integer("items") == 1)
    }
  }

  @Test("an expired item is told apart, and given when asked for") func expiry() throws {
    try withClient { (_, client) throws in
      #expect(try client.call("Set", ["name": "old", "value": "v", "expires": 1_000_000_000]).error == nil)
      let reply = try client.call("Get", ["name": "old"])
      #expect(reply.error == "Expired")
      #expect(reply.integer("expires") == 1_000_000_000)
      #expect(try client.call("Get", ["name": "old", "expired": true]).string("value") == "v")
      #expect(try client.call("Set", ["name": "old", "expires": 0, "update": true]).error == nil)
      #expect(try client.call("Get", ["name": "old"]).string("value") == "v")
    }
  }

  @Test("a generated secret is drawn in the daemon and is never the same") func generate() throws {
    try withClient { (_, client) throws in
      var seen: Set<String> = []
      for index in 0..<5 {
        let set = try client.call("Set", ["name": "p/\(index)", "generate": ["style": "password", "length": 30]])
        #expect(set.error == nil)
        let value = try #require(try client.call("Get", ["name": "p/\(index)"]).string("value"))
        #expect(value.count == 30)
        seen.insert(value)
      }
      #expect(seen.count == 5)
      #expect(try client.call("Set", ["name": "w", "generate": ["style": "phrase", "length": 7]]).error == nil)
      #expect(try client.call("Get", ["name": "w"]).string("value")?.split(separator: "-").count ?? 0 >= 7)
      #expect(try client.call("Set", ["name": "x", "generate": ["style": "poem"]]).error == "InvalidValue")
      #expect(
        try client.call("Set", ["name": "x", "value": "v", "generate": ["style": "phrase"]]).error == "InvalidValue")
      #expect(
        try client.call("Set", ["name": "x", "generate": ["style": "password", "length": -1]]).error == "InvalidValue")
    }
  }

  @Test("who watches learns of every change by name") func monitor() throws {
    try withClient { (sandbox, client) throws in
      let watcher = try sandbox.client()
      #expect(try watcher.call("Monitor", more: true).string("state") == "unlocked")
      _ = try client.call("Set", ["name": "a", "value": "1"])
      _ = try client.call("Set", ["name": "a", "value": "2", "update": true])
      _ = try client.call("Move", ["from": "a", "to": "b"])
      _ = try client.call("Delete", ["names": ["b"]])
      let events = try (0..<4).map { _ in try watcher.reply() }
      #expect(events.map { $0.string("change") } == ["created", "updated", "moved", "deleted"])
      #expect(events.map { $0.string("name") } == ["a", "a", "a", "b"])
      #expect(events[2].string("to") == "b")
    }
  }

  @Test("all who watch learn the same in the same order, and of a lock after all that came before it")
  func manyMonitors() throws {
    try withClient { (sandbox, client) throws in
      let watchers = try (0..<12).map { _ in try sandbox.client() }
      for watcher in watchers { #expect(try watcher.call("Monitor", more: true).string("state") == "unlocked") }
      let names = (0..<128).map { "item \($0)" }
      // The calls are sent at once, so that the lock is asked for while the watchers are still being sent events.
      for call in [
        ["method": "io.vaultd.Vault.SetMany", "parameters": ["items": names.map { ["name": $0, "value": "v"] }]],
        ["method": "io.vaultd.Vault.Delete", "parameters": ["names": names]],
        ["method": "io.vaultd.Vault.Lock", "parameters": [:]],
      ] as [WireClient.Message] {
        client.send([UInt8](try JSONSerialization.data(withJSONObject: call)) + [0])
      }
      for _ in 0..<3 { #expect(try client.reply().error == nil) }
      let expected = names.map { "created \($0)" } + names.map { "deleted \($0)" } + ["locked"]
      for watcher in watchers {
        let told = try expected.map { _ in
          let event = try watcher.reply()
          return event.string("name").map { "\(event.string("change") ?? "") \($0)" } ?? event.string("state") ?? ""
        }
        #expect(told == expected)
      }
    }
  }

  @Test("clients that do not read large values keep nobody else from one") func nonReaders() throws {
    try withClient { (sandbox, client) throws in
      let value = String(repeating: "x", count: 1_000_000)
      #expect(try client.call("Set", ["name": "large", "value": value, "kind": "note"]).error == nil)
      let deaf = try (0..<12).map { _ in try sandbox.client() }
      for client in deaf { client.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"large"}}"#) }
      // The call of a client that was accepted later is handled after all of these; the client belongs to the same
      // process.
      let late = try sandbox.client()
      #expect(try late.call("Status").error == nil)
      #expect(try late.call("Get", ["name": "large"]).string("value") == value)
      // The clients that had to make room were cut off in the middle of a value.
      let whole = try deaf.filter { try $0.receiveBytes() != nil }
      #expect(whole.count < 12)
    }
  }

  @Test("what requires the password is served to the session that has given it, until a lock") func requirements()
    throws
  {
    try withClient { (sandbox, client) throws in
      let item: WireClient.Message = ["name": "a", "value": "v", "require": "password", "accessible": "always"]
      #expect(try client.call("Set", item).error == nil)
      // The unlock in this session counts as presence.
      #expect(try client.call("Get", ["name": "a"]).string("value") == "v")
      #expect(try client.call("Lock").error == nil)
      #expect(try client.call("Get", ["name": "a"]).error == "PresenceRequired")
      #expect(try sandbox.converse("Authenticate", ["name": "a"]) { _ in password }?.error == "PresenceRequired")
      let shown = try sandbox.converse("Authenticate", ["name": "a", "interactive": true]) { _ in password }
      #expect(shown?.error == nil)
      #expect(try client.call("Get", ["name": "a"]).string("value") == "v")
      #expect(
        try client.call("Set", ["name": "a", "value": "v", "require": "nonsense"]).string("parameter") == "require")
    }
  }

  @Test("items and their versions survive a restart of the daemon") func restart() throws {
    try withClient { (sandbox, client) throws in
      _ = try client.call("Set", ["name": "a", "value": "1"])
      _ = try client.call("Set", ["name": "a", "value": "2", "update": true])
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      try sandbox.unlock(password)
      let again = try sandbox.client()
      #expect(try again.call("Get", ["name": "a"]).string("value") == "2")
      #expect(try again.call("Get", ["name": "a", "version": 1]).string("value") == "1")
    }
  }

  @Test("what stands in a folder, and the keys and values of attributes, come as streams") func names() throws {
    try withClient { (sandbox, client) throws in
      for index in 0..<300 {
        let item: WireClient.Message = [
          "name": "f\(index % 3)/\(index)", "value": "x", "attributes": ["owner": "o\(index % 4)", "k\(index)": "v"],
        ]
        #expect(try client.call("Set", item).error == nil)
      }
      #expect(try Self.texts("Children", [:], "names", client).sorted() == ["f0/", "f1/", "f2/"])
      #expect(try Self.texts("Children", ["prefix": "f1/2"], "names", client).count == 36)
      #expect(try Self.texts("Children", ["prefix": "f1/", "limit": 7], "names", client).count == 7)
      #expect(try Self.texts("Attributes", [:], "texts", client).count == 301)
      #expect(try Self.texts("Attributes", ["key": "owner"], "texts", client).sorted() == ["o0", "o1", "o2", "o3"])
      #expect(try Self.texts("Attributes", ["key": "none"], "texts", client) == [])
      for method in ["Children", "Attributes"] {
        #expect(try client.call(method, ["limit": 0], more: true).error?.hasSuffix("InvalidParameter") == true)
        #expect(try client.call(method).error?.hasSuffix("ExpectedMore") == true)
      }
    }
  }

  /// Returns all texts of a stream.
  private static func texts(
    _ method: String, _ parameters: WireClient.Message, _ key: String, _ client: WireClient
  ) throws -> [String] {
    var reply = try client.call(method, parameters, more: true)
    var texts: [String] = []
    while true {
      #expect(reply.error == nil)
      texts += reply.parameters[key] as? [String] ?? []
      guard reply.continues else { return texts }
      reply = try client.reply()
    }
  }
}

import Foundation
import Testing
import VaultBytes
import VaultTesting
import VaultWire

@testable import VaultCLI

/// One line of `vault set --batch`, checked without a daemon.
@Suite("A line of set --batch") struct BatchLineTests {
  private struct Read {
    var item: Wire.NewItem?
    var hasValue = false
    var fault: String?
  }

  private static func read(
    _ line: String, update: Bool = false, allowsEmpty: Bool = false, allowsExpired: Bool = false
  ) -> Read {
    var buffer = SecretBuffer()
    buffer.append(utf8: line)
    do throws(BatchFault) {
      let line = try BatchLine.read(
        buffer, number: 1, BatchTerms(update: update, allowsEmpty: allowsEmpty, allowsExpired: allowsExpired))
      return Read(item: line.item, hasValue: line.value != nil)
    } catch { return Read(fault: error.text) }
  }

  /// Makes a line with a name and these fields.
  private static func line(_ fields: String) -> String { #"{"name":"a","# + fields + "}" }

  @Test(
    "takes a drawn value by its style alone, or as an object",
    arguments: [
      (#""password""#, "password", nil, nil), (#""phrase""#, "phrase", nil, nil),
      (#""hmac256","use":"mac""#, "hmac", nil, nil),
      (#""ed25519","use":"sign""#, "ed25519", nil, nil), (#"{"style":"password","length":20}"#, "password", 20, nil),
      (#"{"style":"password","symbols":false,"length":null}"#, "password", nil, false),
      (#"{"style":"hmac"},"use":"jwt""#, "hmac", nil, nil), (#""p256","update":true"#, "p256", nil, nil),
    ] as [(String, String, Int?, Bool?)])
  func drawn(field: String, style: String, length: Int?, symbols: Bool?) {
    let read = Self.read(Self.line("\"generate\":" + field))
    #expect(read.item?.generate == Wire.Generator(style: style, length: length, symbols: symbols), "\(read)")
    #expect(!read.hasValue)
  }

  @Test("takes times as people write them, and numbers as JSON has them")
  func times() {
    func item(_ fields: String) -> Wire.NewItem? { Self.read(Self.line(#""value":"v","# + fields)).item }
    let now = Int64(Date().timeIntervalSince1970)
    #expect((now...now + 60).contains((item(#""expires":"30d""#)?.expires ?? 0) - 30 * 86_400))
    #expect(item(#""expires":"2030-01-01""#)?.expires == 1_893_456_000)
    #expect(item(#""expires":"@1893456000""#)?.expires == 1_893_456_000)
    #expect(item(#""expires":1893456000"#)?.expires == 1_893_456_000)
    #expect(item(#""expires":"never""#)?.expires == 0)
    #expect(item(#""reuse":"15m""#)?.reuse == 900 && item(#""reuse":90"#)?.reuse == 90)
    #expect(item(#""expires":null,"reuse":null,"kind":null"#)?.expires == nil)
  }

  @Test(
    "says of what it does not take which field it is, and what is allowed",
    arguments: [
      (#"{"value":"v"}"#, ": `name` is missing"), (#"{"name":null,"value":"v"}"#, ": `name` is missing"),
      (#"{"name":7,"value":"v"}"#, ": `name` must be the item's name"),
      (#"{"name":"c//2","value":"v"}"#, ": `name` is not valid: the name has an empty part ('//')"),
      (line(#""valeu":"v""#), ": there is no field `valeu`; the fields are name, value, data, generate, kind,"),
      (line(#""kind":"note""#), ": `value` is missing, and so are data and generate"),
      (line(#""value":7"#), ": `value` must be text"), (line(#""data":"AA""#), ": `data` must be bytes in base64"),
      (line(#""data":"A*==""#), ": `data` must be bytes in base64"),
      (line(#""value":"v","data":"AAH/""#), ": `data` is given together with `value`"),
      (line(#""value":"v","generate":"phrase""#), ": `generate` is given together with `value`"),
      (
        line(#""generate":"passwort""#),
        ": `generate` must be one of password, phrase, ed25519, p256, hmac256, or an object"
      ),
      (line(#""generate":{"length":20}"#), ": `generate` must be one of"),
      (line(#""generate":true"#), ": `generate` must be one of"),
      (
        line(#""generate":{"style":"phrase","words":6}"#),
        ": `generate` has `words`; its fields are style, length and symbols"
      ),
      (
        line(#""generate":{"style":"phrase","length":"6"}"#),
        ": `generate` has a length that is not a number; write one such as 20, without quotes"
      ),
      (
        line(#""generate":{"style":"phrase","length":65}"#),
        ": `generate` has a wrong length: a password has 8 to 1024"
      ),
      (line(#""generate":{"style":"password","length":7}"#), ": `generate` has a wrong length"),
      (line(#""generate":{"style":"p256","length":8},"use":"sign""#), ": `generate` has a wrong length"),
      (line(#""generate":{"style":"phrase","symbols":true}"#), ": `generate` has wrong symbols"),
      (line(#""generate":{"style":"password","symbols":1}"#), ": `generate` has wrong symbols: they are true"),
      (line(#""generate":"rsa3072","use":"sign""#), ": `generate` is an RSA key, which takes a long time to make"),
      (line(#""generate":{"style":"rsa"},"use":"sign""#), ": `generate` is an RSA key, which takes a long time to"),
      (line(#""generate":"ed25519""#), ": `use` is missing: a key is made for one of ssh, jwt, mac, sign, totp"),
      (line(#""value":"v","kind":"spoon""#), ": `kind` must be one of password, api-key,"),
      (line(#""value":"v","use":"fun""#), ": `use` must be one of ssh, jwt, mac, sign, totp"),
      (line(#""value":"v","accessible":"sometimes""#), ": `accessible` must be one of when-unlocked,"),
      (line(#""value":"v","require":"luck""#), ": `require` must be one of none, user-presence,"),
      (line(#""value":"v","attributes":["a"]"#), ": `attributes` must be an object of texts"),
      (line(#""value":"v","attributes":{"a":1}"#), ": `attributes` must be an object of texts"),
      (
        line(#""value":"v","attributes":{"a b":"c"}"#), ": `attributes` is not valid: an attribute's name has something"
      ),
      (
        line(#""value":"v","reuse":0"#),
        ": `reuse` must be a duration such as 15m, or seconds as a number, up to a day"
      ),
      (line(#""value":"v","reuse":-5"#), ": `reuse` must be"),
      (line(#""value":"v","reuse":86401"#), ": `reuse` must be"),
      (line(#""value":"v","reuse":"90""#), ": `reuse` is not valid: a number alone has no unit"),
      (line(#""value":"v","reuse":"2d""#), ": `reuse` is not valid: a proof counts for a day at most"),
      (line(#""value":"v","expires":"1893456000""#), ": `expires` is not valid: a number alone may be a duration"),
      (line(#""value":"v","expires":"soon""#), ": `expires` is not valid: write a duration such as 12h"),
      (line(#""value":"v","expires":-1"#), ": `expires` is not valid: Unix time is a number of seconds since 1970"),
      (line(#""value":"v","expires":0"#), ": `expires` is not valid: 1970-01-01T00:00:00Z has passed"),
      (line(#""value":"v","expires":30"#), ": `expires` is not valid: 1970-01-01T00:00:30Z has passed"),
      (line(#""value":"v","expires":"2020-01-01""#), ": `expires` is not valid: 2020-01-01T00:00:00Z has passed"),
      (line(#""value":"v","expires":"@1""#), ": `expires` is not valid: 1970-01-01T00:00:01Z has passed"),
      (line(#""value":"v","expires":1893456000000"#), ": `expires` is not valid: that is after the year 9999"),
      (line(#""value":"v","expires":253402300800"#), ": `expires` is not valid: that is after the year 9999"),
      (line(#""value":"v","expires":1.5"#), ": `expires` must be a duration"),
      (line(#""value":"v","update":"true""#), ": `update` must be true or false, without quotes"),
      (line(#""value":"""#), " (`a`): `value` is empty, and nothing of kind password is"),
      (line(#""value":"v","kind":"totp""#), ": `value` is not valid for kind totp: "),
      (line(#""value":"long enough","kind":"wifi""#), ": `value` is not valid for kind wifi: "),
      ("[1]", " is not a valid item: it is not a JSON object"),
      (#"{"name":"a","value":"v""#, " is not JSON: "), ("not json", " is not JSON: no value at byte 0"),
      ("{", " is not JSON: no key at byte 1; an item stands on one line, as `jq -c` writes it"),
      ("[ \r", " is not JSON: ends too early at byte 3; an item stands on one line"),
      (#"{"name":"#, " is not JSON: ends too early at byte 8; an item stands on one line"),
      (#"{"name":"a"#, "; an item stands on one line"), (#"{"name":"a","#, "; an item stands on one line"),
      (#"{"name":"a","name":"b"}"#, " is not a valid item: it has the same key twice"),
    ])
  func refused(line: String, fault: String) {
    let read = Self.read(line)
    #expect(read.fault?.contains(fault) == true, "\(line): \(read)")
  }

  @Test("takes an expiry that has passed where that is meant, and never one after the year 9999")
  func passed() {
    func expires(_ time: String) -> Int64? {
      Self.read(Self.line(#""value":"v","expires":"# + time), allowsExpired: true).item?.expires
    }
    #expect(expires("30") == 30 && expires(#""2020-01-01""#) == 1_577_836_800 && expires("253402300799") != nil)
    // A literal 0 would mean never, so the time 0 becomes 1.
    #expect(expires("0") == 1 && expires(#""@0""#) == 1 && expires(#""never""#) == 0)
    #expect(expires("253402300800") == nil && expires("9223372036854775807") == nil)
  }

  @Test("leaves to the vault what it alone knows: the kind and the attributes of an item that is there")
  func updates() {
    #expect(Self.read(Self.line(#""value":"""#), update: true, allowsEmpty: true).fault == nil)
    #expect(Self.read(Self.line(#""value":"long enough","kind":"wifi""#), update: true).fault == nil)
    #expect(Self.read(Self.line(#""value":"long enough","kind":"wifi","attributes":{}"#), update: true).fault != nil)
    #expect(Self.read(Self.line(#""generate":"ed25519""#), update: true).fault == nil)
    #expect(Self.read(Self.line(#""expires":"30d""#), update: true).item?.update == true)
    #expect(Self.read(Self.line(#""value":"v","update":false"#), update: true).item?.update == false)
    #expect(Self.read(Self.line(#""value":"v","kind":"totp""#), update: true).fault != nil)
  }

  @Test("replaces no value by an empty one, unless that is meant", arguments: [#""value":"""#, #""data":"""#])
  func empty(field: String) {
    let fields = field + #","kind":"note""#
    for update in [#","update":true"#, ""] {
      let line = Self.line(fields + update)
      #expect(Self.read(line, update: true).fault?.contains("give --allow-empty to allow that") == true)
      #expect(Self.read(line, update: true, allowsEmpty: true).hasValue)
    }
    #expect(Self.read(Self.line(fields)).hasValue)
    #expect(Self.read(Self.line(fields + #","update":false"#), update: true).hasValue)
  }

  @Test("has a value of a mebibyte at most")
  func size() {
    let most = String(repeating: "v", count: 1 << 20)
    #expect(Self.read(Self.line("\"value\":\"\(most)\"")).hasValue)
    let fault = Self.read(Self.line("\"value\":\"\(most)v\"")).fault
    #expect(fault == " (`a`): `value` is longer than the 1 MiB of an item")
  }

  @Test("of no refusal is a value a part")
  func secrets() {
    for field in [
      #""value":"s3cret\u0000","kind":"note","update":7"#, #""value":"s3cret\n","kind":"api-key""#,
      #""data":"s3cret==""#, #""value":"s3cret","data":"AAAA""#, #""value":{"x":"s3cret"}"#,
    ] {
      let fault = Self.read(Self.line(field)).fault
      #expect(fault != nil && fault?.contains("s3cret") == false, "\(field)")
    }
  }
}

import Foundation
import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("A file that another program has written back") struct RewritingTests {
  private static let source = #"""
    {
      "bridge": {
        "pin": "{{ vault "pin" }}",
        "name": "Homebridge"
      },
      "keys": [{{ vault "k1" | json }}, {{ vault "k2" | json }}],
      "ssid": {{ vault "wifi" | field "ssid" | json }},
      "text": "{{ "{{" }} x }}"
    }

    """#
  private static let values = ["pin": "031-45-154", "k1": "first \"key\"", "k2": "second", "wifi#ssid": "net"]
  /// A rendering of the same configuration in another order, with other white space and an added port.
  private static let compact =
    #"{"keys":["first \"key\"","second"],"text":"{{ x }}","port":8581,"ssid":"net","bridge":{"name":"Homebridge","#
    + #""pin":"031-45-154"}}"#

  /// Compares `present`'s change with a rendering: returns the fate of each value, and the new template or the reason
  /// for the refusal.
  private func rewrite(
    _ source: String, _ values: [String: String], earlier: EarlierValues = EarlierValues(),
    _ present: (String) -> String
  ) throws -> (fates: [Rewriting.Fate], adopted: String?, refusal: String?) {
    let template = try template(source)
    let rendering = try Rendering(template, try fetched(values.mapValues { Array($0.utf8) }), name: "t")
    let text = Array(present(String(decoding: plain(rendering.bytes), as: UTF8.self)).utf8)
    let rewriting = unsafe Rewriting(of: rendering, template, as: text.span.bytes)
    do throws(Adoption.Refusal) {
      let adoption = try unsafe Adoption(of: rewriting, rendering, template, as: text.span.bytes, earlier: earlier)
      return (rewriting.fates, String(decoding: plain(adoption.source), as: UTF8.self), nil)
    } catch {
      return (rewriting.fates, nil, error.reason)
    }
  }

  @Test("each value is found whatever has become of blanks and order, and the template gives the new text")
  func compact()
    throws
  {
    let result = try rewrite(Self.source, Self.values) { _ in Self.compact }
    #expect(result.fates == [.stands(1), .stands(1), .stands(1), .stands(1)])
    #expect(
      result.adopted
        == #"{"keys":[{{ vault "k1" | json }},{{ vault "k2" | json }}],"text":"{{ "{{" }} x "#
        + #"}}","port":8581,"ssid":{{ vault "wifi" | field "ssid" | json }},"bridge":{"name":"Homebridge","pin":"{{ "#
        + #"vault "pin" }}"}}"#
    )
  }

  @Test("lines are those of the new text") func lines() throws {
    let result = try rewrite(Self.source, Self.values) { "\n\n" + $0.replacing("\"name\"", with: "\n\"name\"") }
    #expect(result.fates == [.stands(5), .stands(9), .stands(9), .stands(10)])
    #expect(result.adopted?.hasPrefix("\n\n{\n  \"bridge\"") == true)
  }

  @Test("a value that the program has changed is said, and nothing is taken") func changed() throws {
    let result = try rewrite(Self.source, Self.values) { $0.replacing("031-45-154", with: "111-11-111") }
    #expect(result.fates.first == .replaced(3) && result.adopted == nil)
    let longer = try rewrite(Self.source, Self.values) { $0.replacing("031-45-154", with: "031-45-1549") }
    #expect(longer.fates.first == .moved(3) && longer.adopted == nil)
    let gone = try rewrite(Self.source, Self.values) { $0.replacing(#""pin": "031-45-154","#, with: "") }
    #expect(gone.fates.first == .gone && gone.adopted == nil)
  }

  @Test("a value in the place of another is in no place of its own") func swapped() throws {
    let result = try rewrite(Self.source, Self.values) {
      $0.replacing(#""pin": "031-45-154""#, with: #""pin": "new", "old": "031-45-154""#)
    }
    #expect(result.fates.first == .moved(3) && result.adopted == nil)
  }

  @Test(
    "no text with a value in it is taken, in whatever form",
    arguments: [
      "031-45-154", "x031-45-154x", "MDMxLTQ1LTE1NA==", "first \\\"key\\\"", "first \"key\"", "seconds", "'second'",
      "c2Vjb25k",
    ])
  func clear(text: String) throws {
    let result = try rewrite(Self.source, Self.values) { $0.replacing("Homebridge", with: text) }
    #expect(result.adopted == nil && result.refusal?.contains("in the clear") == true, "\(result)")
    #expect(result.refusal?.contains(text) == false)
  }

  /// A value with a trailing line break, and with characters that JSON and base64 spell in several ways.
  private static let spelled = "ab/c+\u{FC}d?>\u{1F511}\n"

  private static let spellings: [String] = {
    let short = String(spelled.dropLast())
    let forms = [Data(spelled.utf8), Data(short.utf8)].map { $0.base64EncodedString() }
    let unpadded = forms.map { $0.replacing("=", with: "") }
    let url = unpadded.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
    let units = short.utf16.map { unit in "\\u" + String(String(Int(unit) + 0x10000, radix: 16).dropFirst()) }
      .joined()
    return [short, short.replacing("/", with: "\\/"), units, units.uppercased().replacing("\\U", with: "\\u")]
      + [short.replacing("\u{FC}", with: "\\xfc"), short.replacing("\u{1F511}", with: "\\U0001F511")]
      + forms + forms.map { $0.replacing("/", with: "\\/") } + unpadded + url
  }()

  @Test("no value is taken in another spelling, nor without its last line break", arguments: spellings.indices)
  func otherSpelling(index: Int) throws {
    let source = "a={{ vault \"k\" }}b=1\n"
    let result = try rewrite(source, ["k": Self.spelled]) { $0 + "c=<\(Self.spellings[index])>\n" }
    #expect(result.adopted == nil && result.refusal == "`k` also stands at line 3, in the clear", "\(result)")
    #expect(try rewrite(source, ["k": Self.spelled]) { $0 + "c=<\\u00>\\\n" }.adopted != nil)
  }

  @Test("no value is taken that the item had before") func earlier() throws {
    var earlier = EarlierValues()
    let item = try ItemReference(parsing: "k")
    for number in 0..<40 { earlier.add(unsafe Array("old-\(number).".utf8).span.bytes, of: item) }
    let source = "a={{ vault \"k\" }}\n"
    for number in [8, 39] {
      let result = try rewrite(source, ["k": "new"], earlier: earlier) { $0 + "b=old-\(number).\n" }
      #expect(result.refusal == "an earlier value of `k` stands at line 2, in the clear", "\(result)")
    }
    // The oldest values are forgotten, and an old value inside the place of the current one is not in the clear.
    #expect(try rewrite(source, ["k": "new"], earlier: earlier) { $0 + "b=old-7.\n" }.adopted != nil)
    #expect(try rewrite(source, ["k": "old-39."], earlier: earlier) { $0 + "b=1\n" }.adopted != nil)
  }

  @Test("two new braces are taken in no text, and those that were there stay two braces") func braces() throws {
    for text in ["{{", "{{ vault \\\"pin\\\" }}", "a {{{ b", "{{ x"] {
      let result = try rewrite(Self.source, Self.values) { $0.replacing("Homebridge", with: text) }
      #expect(result.adopted == nil && result.refusal?.contains("new {{ at line 4") == true, "\(result)")
    }
    let single = try rewrite(Self.source, Self.values) { $0.replacing("Homebridge", with: "{ }} {") }
    #expect(single.adopted?.contains("{ }} {") == true)
    #expect(single.adopted?.contains(#"{{ "{{" }} x }}"#) == true)
  }

  @Test("a brace before a value does not become part of an action") func touching() throws {
    let result = try rewrite(#"a={{ vault "pin" }};"#, Self.values) { "x {" + $0.replacing("a=", with: "a={") }
    // The value now stands at a different place, with different text before it.
    #expect(result.adopted == nil)
    let list = try rewrite(#"[ {{ vault "k1" | json }} ]"#, Self.values) { _ in #"[{"a":1},"first \"key\""]"# }
    #expect(list.adopted == nil)
  }

  @Test("a value that stands more often than the template says is in the clear somewhere") func oftener() throws {
    let result = try rewrite("a={{ vault \"k\" }}\n", ["k": "1"]) { $0 + "b=1\n" }
    #expect(result.fates == [.stands(1)] && result.refusal == "`k` also stands at line 2, in the clear")
  }

  @Test("one item in several places, and two items with one value, are told apart by what stands before") func several()
    throws
  {
    let source = "a = {{ vault \"k\" }}\nb = {{ vault \"l\" }}\nc = {{ vault \"k\" }}\n"
    let result = try rewrite(source, ["k": "same", "l": "same"]) { _ in "# new\nc=same\nb=same\na=same\n" }
    #expect(result.fates == [.stands(4), .stands(3), .stands(2)])
    #expect(result.adopted == "# new\nc={{ vault \"k\" }}\nb={{ vault \"l\" }}\na={{ vault \"k\" }}\n")
    let unclear = try rewrite("a={{ vault \"k\" }}\na={{ vault \"l\" }}\n", ["k": "same", "l": "same"]) { "x\n" + $0 }
    #expect(unclear.adopted == nil)
  }

  /// The time that a comparison takes must grow with the text, and not with the number of its values as well.
  @Test("many places of one value, all alike, are compared in a moment", .timeLimit(.minutes(1))) func many() throws {
    let count = 20_000
    let source = String(repeating: "{\"a\": {{ vault \"k\" }}}\n", count: count)
    let same = try rewrite(source, ["k": "1"]) { "# 1 1 1\n" + $0 + String(repeating: "1", count: count) }
    #expect(same.fates == (0..<count).map { .stands($0 + 2) })
    let lines = (0..<count).map { "k\($0): {{ vault \"k\" }}\n" }.joined()
    let changed = try rewrite(lines, ["k": "secret"]) { $0.replacing("secret", with: "other") }
    #expect(changed.fates == (0..<count).map { .replaced($0 + 1) })
    let braces = String(repeating: "x {{ \"{{\" }}\n", count: count)
    #expect(try rewrite(braces + "{{ vault \"k\" }}\n", ["k": "secret"]) { "new\n" + $0 }.adopted != nil)
  }

  /// Returns true if the text before `end` in `text` is the one before `place` in `rendered`: one by one, as the
  /// index must find it.
  private static func isSame(_ rendered: [UInt8], _ place: Int, _ text: [UInt8], _ end: Int) -> Bool {
    var known: [UInt8] = []
    let needsGap = unsafe Context.forEachByte(before: place, in: rendered.span.bytes) { known.append($0) }
    var left = end
    for byte in known {
      while left > 0, Context.isBlank(text[left - 1]) { left -= 1 }
      guard left > 0, text[left - 1] == byte else { return false }
      left -= 1
    }
    return needsGap ? Context.isApart(text.span, &left) : true
  }

  @Test("the index of contexts finds just those that stand before a place") func contexts() throws {
    var found = 0
    for _ in 0..<300 {
      func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in Array("ab:, \n{".utf8).randomElement()! } }
      let (rendered, text) = (random(60), random(60))
      let places = (0..<12).map { _ in
        let place = Int.random(in: 0...rendered.count)
        return place..<place
      }
      let index = unsafe ContextIndex(rendered.span.bytes, before: places)
      for end in 0...text.count {
        var entries: Set<Int> = []
        unsafe index.forEach(before: end, in: text.span.bytes) { entries.insert($0) }
        for (number, place) in places.enumerated() {
          let isSame = Self.isSame(rendered, place.lowerBound, text, end)
          #expect(entries.contains(index.numbers[number]) == isSame, "\(rendered) \(place) \(text) \(end)")
          if isSame { found += 1 }
        }
      }
    }
    #expect(found > 100)
  }

  @Test("the first places of all contexts are the ones that a search for each finds") func firstPlaces() throws {
    var found = 0
    for round in 0..<300 {
      let letters = Array((round % 2 == 0 ? "ab:, \n{" : "aaaab \n,").utf8)
      func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in letters.randomElement()! } }
      let (rendered, text) = (random(200), random(300))
      let places = (0..<30).map { _ in
        let place = Int.random(in: 0...rendered.count)
        return place..<place
      }
      let index = unsafe ContextIndex(rendered.span.bytes, before: places)
      let first = unsafe index.firstPlaces(in: text.span.bytes)
      for (number, place) in places.enumerated() {
        let wanted = text.indices.dropFirst().first {
          !Context.isBlank(text[$0]) && Self.isSame(rendered, place.lowerBound, text, $0)
        }
        #expect(first[index.numbers[number]] == wanted, "\(rendered) \(place) \(text)")
        if wanted != nil { found += 1 }
      }
    }
    #expect(found > 100)
  }

  @Test(
    "a text that nearly has all contexts everywhere costs no more than an honest one",
    arguments: ["q", "", "\n"], [" ", "b"])
  func hostile(begin: String, between: String) throws {
    // The values were after one to 126 letters, and there are none of them in the text.
    let rendered = Array((1...126).map { begin + String(repeating: "a", count: $0) + "\u{1}\n" }.joined().utf8)
    let places = rendered.indices.filter { rendered[$0] == 1 }.map { $0..<$0 + 1 }
    let index = unsafe ContextIndex(rendered.span.bytes, before: places)
    func steps(_ text: [UInt8]) -> Int {
      var steps = 0
      _ = unsafe index.firstPlaces(in: text.span.bytes, steps: &steps)
      return steps
    }
    let count = 100_000
    let honest = steps(Array(String(repeating: "name = value;\n", count: count / 14).utf8))
    let hostile = steps((0..<count).map { $0 % 1000 == 0 ? Array(between.utf8)[0] : UInt8(ascii: "a") })
    #expect(honest > count / 2 && hostile < 4 * count, "\(honest) \(hostile)")
  }

  @Test("an empty value has no place") func empty() throws {
    let result = try rewrite("a={{ vault \"k\" }}\n", ["k": ""]) { $0 + "b\n" }
    #expect(result.adopted == nil && result.fates == [.empty])
  }

  @Test("a field is no secret, so that it may stand elsewhere, too") func field() throws {
    let result = try rewrite("ssid={{ vault \"w\" | field \"ssid\" }}\n", ["w#ssid": "net"]) { $0 + "name=net\n" }
    #expect(result.adopted == "ssid={{ vault \"w\" | field \"ssid\" }}\nname=net\n")
  }

  @Test("whatever a program does to the text, what is taken gives just that text, and holds no value") func random()
    throws
  {
    var taken = 0
    for _ in 0..<3000 {
      let pieces = ["{", "}", "\"", "x", " ", "\n", "pin", ":", ",", "031", "net", "{{", "second"]
      let result = try rewrite(Self.source, Self.values) { text in
        var text = text
        for _ in 0..<Int.random(in: 1...3) {
          let place = text.index(text.startIndex, offsetBy: Int.random(in: 0...text.count))
          if Bool.random() || place == text.endIndex {
            text.insert(contentsOf: pieces.randomElement() ?? "", at: place)
          } else {
            text.remove(at: place)
          }
        }
        return text
      }
      guard let adopted = result.adopted else { continue }
      taken += 1
      for value in ["031-45-154", "first \"key", "second"] { #expect(!adopted.contains(value), "\(adopted)") }
      #expect(adopted.components(separatedBy: "{{ vault").count == 5, "\(adopted)")
    }
    #expect(taken > 100)
  }
}

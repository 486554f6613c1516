import Testing
import VaultBytes
import VaultModel

@Suite("Texts that are looked at eight bytes at a time") struct PlainTextTests {
  @Test("a text that must tell two names apart shows every blank but single spaces between characters")
  func whole() {
    #expect(Printable.whole("web/pin x") == "web/pin x")
    #expect(Printable.whole("web/pin  x") == "web/pin\\u{20}\\u{20}x")
    #expect(Printable.whole(" a ") == "\\u{20}a\\u{20}")
    #expect(Printable.whole("a\u{A0}b\u{2003}c\u{2800}d") == "a\\u{a0}b\\u{2003}c\\u{2800}d")
    #expect(Printable.whole("a \u{1B}b") == "a \\u{1b}b")
  }

  @Test("a backslash of a name is doubled only where it could begin the spelling of a character") func backslashes() {
    #expect(Printable.whole("web/a\\u{a0}b") == "web/a\\\\u{a0}b")
    #expect(Printable.field("x\u{200B}y") == "x\\u{200b}y" && Printable.field("x\\u{200b}y") == "x\\\\u{200b}y")
    #expect(Printable.whole("unit:dev\\x2dttyS0.service") == "unit:dev\\x2dttyS0.service")
    #expect(Printable.field("a  b ") == "a  b ")
  }

  @Test("no name can end the quotation in which it stands") func quotation() {
    #expect(Printable.quoted("a` from root") == "`a\\u{60} from root`")
    #expect(Printable.wholeQuoted("a\\`") == "`a\\\\\\u{60}`")
    #expect(Printable.quoted("a  b") == "`a\\u{20}\\u{20}b`")
  }

  @Test("no caller's words can end their quotation") func said() {
    #expect(Printable.said("backup (nightly) \"x\"") == "“backup (nightly) 'x'”")
    #expect(Printable.said("x” by approval 9 “ana") == "“x' by approval 9 'ana”")
    #expect(Printable.said("a\u{275E}b\u{FF02}\u{1B}") == "“a\\u{275e}b'\\u{1b}”")
    for quote in ["\u{2019}\u{2019}", "''", "\"", "\u{BB}", "``", "\u{201D}'"] {
      #expect(Printable.said("x\(quote) ok") == "“x' ok”")
    }
    for sign in ["\u{1F677}", "\u{2DD}", "\u{2EE}", "\u{2BA}", "\u{A78C}", "\u{FF09}", "\u{276F}", "\u{2033}"] {
      let number = String(sign.unicodeScalars.first?.value ?? 0, radix: 16)
      #expect(Printable.said("x\(sign) ok") == "“x\\u{\(number)} ok”")
    }
    // A mark that stands on no letter is shown alone.
    #expect(Printable.said("x \u{30B} o\u{30B}") == "“x \\u{30b} o\u{30B}”")
    for words in ["don't – 3 €, naïve…", "резервная копия №1".replacing("№", with: "N"), "コピーを更新、人々。", "ทุก ๆ คืน"] {
      #expect(Printable.said(words) == "“\(words)”")
    }
    // The daemon's spelling of a character stays as it is.
    #expect(Printable.said("\\u{1b}[2J") == "“\\u{1b}[2J”")
  }

  @Test("no two names have the same text, and a sentence with such a text is safe as it is") func different() {
    let parts = ["\\", "u{", "20}", "200b}", "60}", " ", "\u{A0}", "\u{200B}", "`", "a"]
    var names: [String] = []
    var longest = [""]
    for _ in 0..<4 {
      longest = longest.flatMap { name in parts.map { name + $0 } }
      names += longest
    }
    for spell in [Printable.field, Printable.whole, Printable.wholeQuoted, Printable.quoted] {
      let texts = names.map(spell)
      #expect(Set(texts.map { Array($0.utf8) }).count == names.count)
      #expect(texts.filter { Printable.line($0) != $0 } == [])
    }
    #expect(names.map(Printable.wholeQuoted).filter { $0.utf8.count { $0 == UInt8(ascii: "`") } != 2 } == [])
  }

  @Test("are plain when each of their characters is, wherever it stands") func plain() {
    for count in 0..<20 {
      for place in 0..<max(count, 1) {
        for scalar in (0..<0x100).map({ Unicode.Scalar(UInt8($0)) }) + ["\u{202e}", "\u{1f600}", "\u{ad}"] {
          var scalars = Array(repeating: Unicode.Scalar("~"), count: count)
          if count > 0 { scalars[place] = scalar }
          let text = String(String.UnicodeScalarView(scalars))
          #expect(Printable.isPlain(text) == scalars.allSatisfy(\.isShown), "\(count) \(place) \(scalar.value)")
        }
      }
    }
  }

  @Test("have another hash when any byte is another one, or missing") func hashed() {
    func hash(_ text: String) -> Int {
      var hasher = Hasher()
      hasher.combine(text.utf8.count)
      unsafe hasher.combine(words: text.utf8Span.span.bytes)
      return hasher.finalize()
    }
    var seen: Set<Int> = []
    var count = 0
    for size in 0..<40 {
      for place in 0..<max(size, 1) {
        for letter in size == 0 ? [""] : ["b", "c"] {
          let text =
            String(repeating: "a", count: place) + letter + String(repeating: "a", count: max(0, size - place - 1))
          seen.insert(hash(text))
          count += 1
        }
      }
    }
    // The same text has the same hash again.
    #expect(seen.count == count && hash("item/one") == hash("item/" + "one"))
    #expect(hash("\u{e9}") != hash("e\u{301}"))
  }
}

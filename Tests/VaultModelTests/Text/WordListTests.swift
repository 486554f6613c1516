import Testing
import VaultModel

@Suite("The word list")
struct WordListTests {
  private static func word(_ index: Int) -> String { String(decoding: WordList.word(index), as: UTF8.self) }

  @Test(
    "It is the EFF's large list: known words stand where the dice say",
    arguments: [
      (11111, "abacus"), (11112, "abdomen"), (21135, "cornstalk"), (24222, "drew"), (36313, "luckily"),
      (44444, "playlist"), (55555, "spotter"), (66665, "zoology"), (66666, "zoom"),
    ])
  func dice(dice: Int, expected: String) {
    // Five dice, each minus one, are the index's digits in base six.
    let index = String(dice).compactMap(\.wholeNumberValue).reduce(0) { $0 * 6 + $1 - 1 }
    #expect(Self.word(index) == expected)
  }

  @Test("There are 7776 different words in order, of three to nine lower-case letters, or a hyphen")
  func words() {
    let words = (0..<WordList.count).map(Self.word)
    #expect(Set(words).count == 7776)
    #expect(words == words.sorted())
    #expect(words.allSatisfy { (3...9).contains($0.utf8.count) })
    #expect(words.allSatisfy { $0.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D } })
    #expect(words.filter { $0.contains("-") } == ["drop-down", "felt-tip", "t-shirt", "yo-yo"])
  }

  @Test("The words are all the original's, byte for byte")
  func checksum() {
    // FNV-1a, 64 bits, over the words in order, each followed by a line feed; computed once from the published file.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for index in 0..<WordList.count {
      for byte in Array(WordList.word(index)) + [0x0A] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    #expect(hash == 0xd8c9_60f6_0306_3976)
  }
}

import Testing
import VaultBytes
import VaultWire

@testable import VaultCLI

@Suite("A program's output without values") struct MaskerTests {
  private static let mark = Array("\(Masker.mark)".utf8)

  private func values(_ texts: [[UInt8]]) -> MaskedValues {
    var bytes = SecretBuffer()
    var places: [Range<Int>] = []
    for text in texts {
      places.append(bytes.count..<bytes.count + text.count)
      bytes.append(unsafe text.span.bytes)
    }
    return MaskedValues(bytes, places)
  }

  /// Masks a text that arrives in parts, which end at `cuts`.
  private func mask(_ text: [UInt8], _ values: MaskedValues, cuts: [Int] = []) -> [UInt8] {
    var masker = Masker(values)
    var output = SecretBuffer()
    var start = 0
    for cut in cuts + [text.count] {
      let part = Array(text[start..<cut])
      masker.add(unsafe part.span.bytes, into: &output)
      start = cut
    }
    masker.finish(into: &output)
    return bytes(output)
  }

  private func bytes(_ buffer: borrowing SecretBuffer) -> [UInt8] {
    buffer.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return bytes.indices.map { bytes[$0] }
    }
  }

  /// The expected result of masking, found by a search for each value at each place.
  private func naive(_ text: [UInt8], _ values: [[UInt8]]) -> [UInt8] {
    var isHidden = text.map { _ in false }
    for value in values where !value.isEmpty && value.count <= text.count {
      for start in 0...text.count - value.count where text[start..<start + value.count].elementsEqual(value) {
        for index in start..<start + value.count { isHidden[index] = true }
      }
    }
    var output: [UInt8] = []
    for index in text.indices {
      if !isHidden[index] {
        output.append(text[index])
      } else if index == 0 || !isHidden[index - 1] {
        output += Self.mark
      }
    }
    return output
  }

  private static let cases: [(values: [String], text: String, masked: String)] = [
    (["hunter2"], "login hunter2 ok", "login <concealed> ok"),
    (["hunter2"], "hunter2", "<concealed>"),
    (["hunter2"], "hunterhunter2", "hunter<concealed>"),
    (["hunter2"], "hunter2hunter2", "<concealed>"),
    (["hunter2"], "hunter", "hunter"),
    (["aab"], "aaab aabaab", "a<concealed> <concealed>"),
    (["a"], "banana", "b<concealed>n<concealed>n<concealed>"),
    (["abcd", "cdef"], "xabcdefx", "x<concealed>x"),
    (["ab", "abcd"], "abcd ab abc", "<concealed> <concealed> <concealed>c"),
    (["bc", "abcd"], "abc abcd", "a<concealed> <concealed>"),
    (["abab"], "ababab", "<concealed>"),
    (["", "x"], "y", "y"),
    ([], "all of it", "all of it"),
    (["\n"], "a\nb", "a<concealed>b"),
    (["<concealed>"], "<concealed>", "<concealed>"),
  ]

  @Test("each value is one mark, wherever the text is cut", arguments: cases.indices)
  func cuts(index: Int) {
    let (texts, text, masked) = Self.cases[index]
    let values = values(texts.map { Array($0.utf8) })
    let bytes = Array(text.utf8)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        #expect(mask(bytes, values, cuts: [first, second]) == Array(masked.utf8), "\(first), \(second)")
      }
    }
    #expect(mask(bytes, values, cuts: Array(bytes.indices)) == Array(masked.utf8))
  }

  @Test("any values in any text are found as by looking at each place") func random() {
    for _ in 0..<3000 {
      let letters = UInt8.random(in: 1...3)
      func word(_ length: ClosedRange<Int>) -> [UInt8] {
        (0..<Int.random(in: length)).map { _ in UInt8(ascii: "a") + UInt8.random(in: 0...letters) }
      }
      let texts = (0..<Int.random(in: 0...4)).map { _ in word(0...6) }
      let text = word(0...60)
      let cuts = (0..<Int.random(in: 0...8)).map { _ in Int.random(in: 0...text.count) }.sorted()
      #expect(mask(text, values(texts), cuts: cuts) == naive(text, texts), "\(texts) in \(text) at \(cuts)")
    }
  }

  @Test("only what may be the beginning of a value is held back") func heldBack() {
    var masker = Masker(values([Array("secret".utf8)]))
    var output = SecretBuffer()
    masker.add(unsafe Array("Password: ".utf8).span.bytes, into: &output)
    #expect(bytes(output) == Array("Password: ".utf8))
    masker.add(unsafe Array("sec".utf8).span.bytes, into: &output)
    #expect(bytes(output) == Array("Password: ".utf8))
    masker.add(unsafe Array("ond".utf8).span.bytes, into: &output)
    #expect(bytes(output) == Array("Password: second".utf8))
  }

  @Test("a long value that repeats itself takes no longer than its text") func linear() {
    let value = [UInt8](repeating: 0x61, count: 200_000) + [0x62]
    let text = [UInt8](repeating: 0x61, count: 400_000)
    #expect(mask(text, values([value])) == text)
  }
}

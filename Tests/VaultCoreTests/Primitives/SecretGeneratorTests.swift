import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite struct SecretGeneratorTests {
  private let symbols = Set("#%&*+,-./:=?@^_~".utf8)

  @Test("A password has the length asked for and one of each kind of character", arguments: [8, 9, 24, 1024])
  func password(length: Int) throws {
    for _ in 0..<50 {
      let password = try SecretGenerator.password(length: length).array
      #expect(password.count == length)
      #expect(password.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 })
      #expect(password.contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 })
      #expect(password.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
      #expect(password.contains(where: symbols.contains))
    }
  }

  @Test("Without symbols there are letters and digits alone") func withoutSymbols() throws {
    for _ in 0..<50 {
      let password = try SecretGenerator.password(length: 12, symbols: false).array
      #expect(password.allSatisfy { !symbols.contains($0) && $0 > 0x2F && $0 < 0x7B })
      #expect(password.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    }
  }

  @Test("Every character of the alphabet comes up, about as often as the others") func spread() throws {
    var counts: [UInt8: Int] = [:]
    let total = 200 * 1024
    for _ in 0..<200 { for byte in try SecretGenerator.password(length: 1024).array { counts[byte, default: 0] += 1 } }
    #expect(counts.count == 78)
    // Each character is expected 2,626 times, with a standard deviation of 51: a deviation of eight times that is not
    // chance.
    for (_, count) in counts { #expect(abs(count - total / 78) < 410) }
  }

  @Test("A phrase is words of the list, joined by dashes", arguments: [4, 6, 64]) func phrase(words: Int) throws {
    let list = Set((0..<WordList.count).map { String(decoding: WordList.word($0), as: UTF8.self) })
    for _ in 0..<20 {
      let phrase = String(decoding: try SecretGenerator.phrase(words: words).array, as: UTF8.self)
      // Four words of the list contain a dash, so two parts may form one word.
      var rest = phrase.split(separator: "-", omittingEmptySubsequences: false).map(String.init)[...]
      var count = 0
      while let first = rest.popFirst() {
        if let second = rest.first, list.contains(first + "-" + second), !list.contains(first) || !list.contains(second)
        {
          rest.removeFirst()
        } else {
          #expect(list.contains(first))
        }
        count += 1
      }
      #expect(count == words)
    }
  }

  // 128 words are expected from each hundredth of the list. A hundredth without any word happens once in 10^55 runs.
  @Test("The words of a phrase come from the whole of the list") func wholeList() throws {
    let list = (0..<WordList.count).map { String(decoding: WordList.word($0), as: UTF8.self) }
    let places = Dictionary(uniqueKeysWithValues: zip(list, list.indices))
    var parts: Set<Int> = []
    for _ in 0..<200 {
      let phrase = String(decoding: try SecretGenerator.phrase(words: 64).array, as: UTF8.self)
      for word in phrase.split(separator: "-") {
        if let place = places[String(word)] { parts.insert(place * 100 / list.count) }
      }
    }
    #expect(parts.count == 100)
  }

  @Test("Two phrases and two passwords differ") func fresh() throws {
    #expect(try SecretGenerator.phrase().array != SecretGenerator.phrase().array)
    #expect(try SecretGenerator.password().array != SecretGenerator.password().array)
  }

  @Test("Lengths out of range are refused", arguments: [Int.min, -1, 0, 3, 7, 1025, Int.max])
  func limits(length: Int) {
    #expect(failure { () throws(CryptoError) in _ = try SecretGenerator.password(length: length) }?.isLimits == true)
    if !(4...64 ~= length) {
      #expect(failure { () throws(CryptoError) in _ = try SecretGenerator.phrase(words: length) }?.isLimits == true)
    }
  }
}

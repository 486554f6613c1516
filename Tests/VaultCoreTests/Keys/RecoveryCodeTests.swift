import Testing
import VaultBytes

@testable import VaultCore

@Suite struct RecoveryCodeTests {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

  private func typed(_ text: [UInt8]) -> CryptoError? {
    failure { () throws(CryptoError) in _ = try RecoveryCode(typed: SecureBytes(text)) }
  }

  private func key(_ text: [UInt8]) throws(CryptoError) -> [UInt8] {
    try RecoveryCode(typed: SecureBytes(text)).key(salt: [1, 2, 3]).array
  }

  @Test("A code is six groups of five symbols and reads back as itself") func roundTrip() throws {
    for _ in 0..<20 {
      let code = RecoveryCode.random()
      let text = code.text().array
      #expect(text.count == 35)
      for (index, character) in text.enumerated() {
        #expect(index % 6 == 5 ? character == UInt8(ascii: "-") : Self.alphabet.contains(character))
      }
      let again = try RecoveryCode(typed: SecureBytes(text))
      #expect(again.text().array == text)
      #expect(again.key(salt: [7]).array == code.key(salt: [7]).array)
    }
  }

  // Another program computed both values from the documented format.
  @Test("Known bits give a known code, so that a written code opens the vault for ever") func fixed() throws {
    let code = RecoveryCode(bits: SecureBytes(Array(0..<16)))
    #expect(String(decoding: code.text().array, as: UTF8.self) == "000G4-0R40M-30E20-9185G-R38E1-YTT1Z")
    #expect(
      code.key(salt: Array(0..<16)).array == hex("4d3412b5163c28449e93311a275d28959f5b8a244bc98c6a8e8cc91dab559c3d"))
  }

  @Test("Case, dashes, blanks and the letters O, I and L do not matter") func folding() throws {
    // The code must contain 0 and 1: the 128 bits from 00, 08, 42 … on make the symbols 0 and 1.
    let code = RecoveryCode(bits: SecureBytes([0x00, 0x08, 0x42, 0x10, 0x84] + Array(repeating: 0x21, count: 11)))
    let text = String(decoding: code.text().array, as: UTF8.self)
    #expect(text.contains("0") && text.contains("1"))
    let expected = try key(Array(text.utf8))
    let plain = text.filter { $0 != "-" }
    let zeros = String(text.map { $0 == "0" ? "O" : $0 })
    let ones = String(text.map { $0 == "1" ? "I" : $0 })
    let lines = String(text.map { $0 == "1" ? "L" : $0 })
    for variant in [
      plain, text.lowercased(), zeros, zeros.lowercased(), ones, ones.lowercased(), lines, lines.lowercased(),
      text + "\n", text + "\r\n", "  " + text + "\t", text.split(separator: "-").joined(separator: " "),
      plain.map { "\($0)-" }.joined(),
    ] {
      #expect(try key(Array(variant.utf8)) == expected)
    }
  }

  @Test("Every change of one symbol is noticed") func oneSymbol() {
    let text = RecoveryCode.random().text().array
    for place in text.indices where text[place] != UInt8(ascii: "-") {
      for symbol in Self.alphabet where symbol != text[place] {
        var changed = text
        changed[place] = symbol
        #expect(typed(changed)?.isMalformed == true)
      }
    }
  }

  @Test("Every two symbols that changed places are noticed") func swapped() {
    let text = RecoveryCode.random().text().array
    for first in text.indices {
      for second in text.indices where second > first && text[first] != text[second] {
        var changed = text
        changed.swapAt(first, second)
        // If a symbol changes places with a dash and no other symbol lies between, the code stays the same.
        if changed.filter({ $0 != UInt8(ascii: "-") }) != text.filter({ $0 != UInt8(ascii: "-") }) {
          #expect(typed(changed)?.isMalformed == true)
        }
      }
    }
  }

  @Test("No error in one or two symbols has the checksum 0, so none passes, whatever the code") func linear() {
    // The code is linear: an error pattern passes if and only if its own remainder is 0. Two errors cancel out only if
    // their remainders are equal. So it suffices that the remainders of all single errors differ and none is 0.
    var remainders: Set<UInt32> = []
    for place in 0..<30 {
      for error in 1...31 as ClosedRange<UInt8> {
        var register = Checksum()
        for index in 0..<30 { register.add(symbol: index == place ? error : 0) }
        remainders.insert(register.remainder)
      }
    }
    #expect(remainders.count == 30 * 31)
    #expect(!remainders.contains(0))
  }

  @Test("Too few and too many symbols, other signs, and thirty zeros are no code") func malformed() {
    let text = RecoveryCode.random().text().array
    for count in 0..<text.count { #expect(typed(Array(text[..<count]))?.isMalformed == true) }
    #expect(typed(text + [UInt8(ascii: "0")])?.isMalformed == true)
    #expect(typed([UInt8](repeating: UInt8(ascii: "0"), count: 30))?.isMalformed == true)
    #expect(typed([UInt8](repeating: UInt8(ascii: "0"), count: 1_000_000))?.isMalformed == true)
    for character in UInt8.min...UInt8.max {
      var changed = text
      changed[5] = character  // The first dash: a symbol there is one too many, and everything else is no symbol.
      let blank = [0x2D, 0x20, 0x09, 0x0D, 0x0A].contains(character)
      #expect((typed(changed) == nil) == blank, "character \(character)")
    }
  }

  @Test("The key depends on the salt and on the code") func keys() throws {
    let first = RecoveryCode.random()
    let second = RecoveryCode.random()
    #expect(first.key(salt: [1]).array != first.key(salt: [2]).array)
    #expect(first.key(salt: [1]).array != second.key(salt: [1]).array)
    #expect(first.key(salt: [1]).count == 32)
  }
}

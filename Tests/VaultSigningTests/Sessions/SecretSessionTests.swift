import Testing
import VaultCore
import VaultModel

@testable import VaultSigning

@Suite("A session of the Secret Service") struct SecretSessionTests {
  private typealias Stand = SessionStand
  private static let vector = [UInt8](repeating: 9, count: 16)

  @Test("hands over secrets of every size up to 70 bytes, and of 1 MiB, in both ways") func sizes() throws {
    let plain = SecretSession.plain()
    let agreed = try Stand.agree(Stand.generator)
    #expect(plain.algorithm == .plain && plain.publicKey.isEmpty && agreed.algorithm == .agreed)
    for count in Array(0...70) + [ValueLimits.bytes - 1, ValueLimits.bytes] {
      let secret = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let open = try plain.encode(secret)
      #expect(open == Travelling(parameters: [], value: secret))
      #expect(try plain.decode(open) == secret)
      let hidden = try agreed.encode(secret)
      #expect(hidden.parameters.count == 16 && hidden.value.count == (count / 16 + 1) * 16)
      #expect(try agreed.decode(hidden) == secret)
    }
  }

  @Test("never sends one secret twice in the same form") func fresh() throws {
    let session = try Stand.agree(Stand.generator)
    let sent = try (0..<50).map { _ in try session.encode([1, 2, 3]) }
    #expect(Set(sent.map(\.parameters)).count == 50 && Set(sent.map(\.value)).count == 50)
  }

  @Test("refuses a secret that is longer than a value may be") func long() throws {
    let plain = SecretSession.plain()
    let agreed = try Stand.agree(Stand.generator)
    let secret = [UInt8](repeating: 1, count: ValueLimits.bytes + 1)
    #expect(plain.refusal([], secret) == .tooLong)
    let hidden = try agreed.encode(secret)
    #expect(hidden.value.count == SecretSession.mostBytes)
    #expect(agreed.refusal(hidden.parameters, hidden.value) == .tooLong)
    #expect(agreed.refusal(hidden.parameters, hidden.value + Self.vector) == .tooLong)
  }

  @Test("refuses parameters of any size but its own") func parameters() throws {
    let plain = SecretSession.plain()
    let agreed = try Stand.agree(Stand.generator)
    let hidden = try agreed.encode([1, 2, 3])
    for count in [0, 1, 8, 15, 17, 32, 4096] {
      let parameters = [UInt8](repeating: 0, count: count)
      #expect(agreed.refusal(parameters, hidden.value) == .secret)
      #expect(plain.refusal(parameters, hidden.value) == (count == 0 ? nil : .secret))
    }
  }

  @Test("refuses a ciphertext that is cut or made longer, with one and the same error") func cut() throws {
    let session = try Stand.agree(Stand.generator)
    let hidden = try session.encode([UInt8](repeating: 0, count: 40))
    for count in 0..<hidden.value.count {
      // A cut at the end of a block leaves a last block without padding.
      #expect(session.refusal(hidden.parameters, Array(hidden.value.prefix(count))) == .secret, "\(count)")
    }
    for added in 1..<16 {
      #expect(session.refusal(hidden.parameters, hidden.value + [UInt8](repeating: 0, count: added)) == .secret)
    }
  }

  @Test("refuses each change of the padding, and reads another secret after a change before it") func flipped() throws {
    let session = try Stand.agree(Stand.generator)
    // 12 bytes of padding, which are decrypted with the end of the block before.
    let hidden = try session.encode([UInt8](repeating: 0, count: 20))
    for bit in 0..<8 * hidden.parameters.count {
      let read = try session.decode(Travelling(parameters: hidden.parameters.flipping(bit: bit), value: hidden.value))
      #expect(read == [UInt8](repeating: 0, count: 20).flipping(bit: bit))
    }
    for bit in 32..<128 { #expect(session.refusal(hidden.parameters, hidden.value.flipping(bit: bit)) == .secret) }
  }

  @Test("reads nothing of what another session has sent") func others() throws {
    let peer = try Stand.agree(Stand.generator).publicKey
    let one = try Stand.agree(peer)
    let other = try Stand.agree(peer)
    for count in [0, 40] {
      let secret = [UInt8](repeating: 7, count: count)
      let hidden = try one.encode(secret)
      // By chance, one wrong block of 255 ends like a padding.
      #expect((try? other.decode(hidden)) != secret)
    }
  }
}

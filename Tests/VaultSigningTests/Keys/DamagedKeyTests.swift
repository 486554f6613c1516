import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("Keys that are damaged") struct DamagedKeyTests {
  /// The example keys in every form, by PEM label.
  private static let forms: [(label: String, bytes: [UInt8])] = {
    var forms: [(String, [UInt8])] = []
    for type in KeyType.allCases {
      guard let key = try? Examples.key(type), let pkcs8 = try? unpem(text(key.pkcs8())),
        let openSSH = try? unpem(text(key.openSSHPrivate(comment: "c")))
      else { return [] }
      forms += [("PRIVATE KEY", pkcs8), ("OPENSSH PRIVATE KEY", openSSH)]
      // The content of PKCS #8 is OpenSSL's older form; only for a curve its name is missing.
      if type == .rsa { forms.append(("RSA PRIVATE KEY", Array(pkcs8.dropFirst(26)))) }
    }
    return forms + [("EC PRIVATE KEY", (try? unpem(ExampleCurve.p256.pem([UInt8](repeating: 7, count: 32)))) ?? [])]
  }()

  @Test("Each truncation is an error, of the bytes and of the text") func truncated() throws {
    try #require(Self.forms.count == 12)
    for (label, bytes) in Self.forms {
      #expect(refusal(pem(label, bytes)) == nil, "\(label)")
      for count in bytes.indices {
        #expect(refusal(pem(label, Array(bytes.prefix(count)))) != nil, "\(label) \(count)")
      }
      for more in [[0], [0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
        #expect(refusal(pem(label, bytes + more))?.isDamaged == true, "\(label)")
      }
      let text = pem(label, bytes)
      for count in 0..<text.utf8.count - 1 {
        #expect(refusal(String(text.prefix(count))) != nil, "\(label) \(count)")
      }
    }
  }

  @Test("A flipped bit is an error, or leaves the key that it was, or another whole one: no public half is wrong")
  func flipped() throws {
    for (label, bytes) in Self.forms {
      let original = try privateKey(pem(label, bytes)).publicKey
      var accepted = 0
      // A check takes milliseconds, except for Ed25519; the steps still reach each bit position of a byte.
      let step = [KeyType.ed25519: 1, .p256: 3, .rsa: 23][original.type] ?? 11
      for bit in stride(from: 0, to: 8 * bytes.count, by: step) {
        let text = pem(label, bytes.flipping(bit: bit))
        guard refusal(text) == nil else { continue }
        accepted += 1
        let key = try privateKey(text)
        let message = [UInt8](text.utf8.prefix(100))
        let scheme = key.type.schemes[0]
        // libgcrypt would refuse to return a wrong RSA signature.
        #expect(key.publicKey.verifies(try key.sign(message, scheme), of: message, scheme), "\(label) \(bit)")
      }
      // OpenSSH's form does not authenticate its comment, nor PKCS #8 all bits of its version. Without a public key
      // beside it, each private number is a key.
      let isAlone = label == "EC PRIVATE KEY" || label == "PRIVATE KEY" && original.type == .ed25519
      #expect(accepted <= (isAlone ? 257 : 16), "\(label) \(original.type) \(accepted)")
    }
  }

  @Test("A public half of another key is told", arguments: KeyType.allCases) func mismatched(type: KeyType) throws {
    let key = try Examples.key(type)
    var bytes = try unpem(text(key.openSSHPrivate()))
    let blob = key.publicKey.sshBlob
    // The public key stands in two places: outside, and inside with the private numbers.
    let tail = Array(blob.suffix(24))
    let places = bytes.indices.filter { bytes[$0...].starts(with: tail) }
    #expect(places.count >= 1)
    for place in places { bytes[place + 5] ^= 1 }
    #expect(refusal(pem("OPENSSH PRIVATE KEY", bytes)) == .mismatched)
  }

  @Test("An Ed25519 key of version 2 has its public half beside it (RFC 8410, section 10.3)") func second() throws {
    let seed = [UInt8](1...32)
    let bare = hex("020100300506032b6570") + der(4, der(4, seed))
    let key = try privateKey(pem("PRIVATE KEY", der(0x30, bare)))
    let right = Array(key.publicKey.sshBlob.suffix(32))
    func form(_ version: UInt8, _ publicKey: [UInt8]) -> String {
      pem("PRIVATE KEY", der(0x30, [2, 1, version] + bare.dropFirst(3) + publicKey))
    }
    #expect(refusal(form(1, [])) == nil && refusal(form(1, der(0x81, [0] + right))) == nil)
    #expect(refusal(form(1, der(0xA0, []) + der(0x81, [0] + right))) == nil)
    #expect(refusal(form(1, der(0x81, [0] + right.flipping(bit: 9)))) == .mismatched)
    for wrong in [form(0, der(0x81, [0] + right)), form(1, der(0x81, [1] + right)), form(2, [])] {
      #expect(refusal(wrong)?.isDamaged == true)
    }
  }

  @Test(
    "A private scalar lies between 0 and the order, and may have lost zeros before it", arguments: ExampleCurve.allCases
  )
  func scalars(curve: ExampleCurve) throws {
    #expect(refusal(curve.pem([7])) == nil)
    let padded = [UInt8](repeating: 0, count: curve.count - 1) + [7]
    #expect(try privateKey(curve.pem([7])).publicKey == privateKey(curve.pem(padded)).publicKey)
    var last = curve.order
    last[last.count - 1] -= 1
    #expect(refusal(curve.pem(last)) == nil)
    for wrong in [curve.order, [UInt8](repeating: 0, count: curve.count), [UInt8](repeating: 0xFF, count: curve.count)]
    {
      #expect(refusal(curve.pem(wrong))?.isDamaged == true)
    }
    #expect(refusal(curve.pem([0] + padded))?.isDamaged == true && refusal(curve.pem([]))?.isDamaged == true)
  }

  @Test("An RSA key has two large primes") func primes() throws {
    for file in ["rsa-small-prime.pem", "rsa-511-bit-prime.pem"] {
      #expect(refusal(try vectorText(file)) == .damaged("one of its primes is too small"), "\(file)")
    }
    try privateKey(vectorText("rsa-512-bit-prime.pem")).checkPrimes()
    // The key's numbers fit each other, so only a signature reveals the fault.
    let composite = try privateKey(vectorText("rsa-composite-prime.pem"))
    var fault: KeyError?
    do throws(KeyError) { try composite.checkPrimes() } catch { fault = error }
    #expect(fault?.isDamaged == true)
    for type in KeyType.allCases { try Examples.key(type).checkPrimes() }
  }

  @Test("A private part of OpenSSH's form may have more padding than it needs, of the same bytes") func padded() throws
  {
    let body = try unpem(text(Examples.key(.ed25519).openSSHPrivate()))
    // The private part stands last, with its size before it.
    let name = Array("\0\0\0\u{0B}ssh-ed25519".utf8)
    let start = try #require((0..<body.count - name.count).last { Array(body[$0..<$0 + name.count]) == name }) - 12
    let inner = Array(body[(start + 4)...])
    let padding = Int(inner[inner.count - 1])
    func file(_ more: [UInt8]) -> String {
      let count = UInt32(inner.count + more.count)
      let size = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
      return pem("OPENSSH PRIVATE KEY", Array(body[..<start]) + size + inner + more)
    }
    let key = try privateKey(file([])).publicKey
    #expect(try privateKey(file((1...8).map { UInt8(padding + $0) })).publicKey == key)
    #expect(refusal(file((1...8).map { UInt8(padding + $0 + 1) })) == .damaged("its padding is wrong"))
  }

  @Test("A text without a name of a key, and a security key's, are refused by what they are") func others() throws {
    #expect(refusal("ssh-ed25519 AAAA") == .noKey)
    func string(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8) }
    let inner = [1, 2, 3, 4, 1, 2, 3, 4] + string("sk-ssh-ed25519@openssh.com") + [1, 2]
    let bytes =
      Array("openssh-key-v1\0".utf8) + string("none") + string("none") + string("") + [0, 0, 0, 1] + string("")
    #expect(
      refusal(pem("OPENSSH PRIVATE KEY", bytes + [0, 0, 0, UInt8(inner.count)] + inner))
        == .unsupported("a key on a security key (sk-…)"))
    #expect(
      refusal(pem("OPENSSH PRIVATE KEY", bytes.map { $0 == UInt8(ascii: "1") ? UInt8(ascii: "2") : $0 }))?.isDamaged
        == true)
  }
}

import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("Public keys") struct PublicKeyTests {
  @Test("Their JWK and thumbprint are those of RFC 7638 section 3.1, RFC 8037 appendix A and RFC 7515 appendix A.3")
  func jwk() throws {
    let modulus =
      "d2fc7b6a0a1e6c67104aeb8f88b257669b4df679ddad099b5c4a6cd9a88015b5a133bf0b856c7871b6df000b554fceb3c2ed512bb68f14"
      + "5c6e8434752f"
      + "ab52a1cfc124408f79b58a4578c16428855789f7a249e384cb2d9fae2d67fd96fb926c198e077399fdc815c0af097dde5aadeff44de7"
      + "0e827f4878432439bfeeb960"
      + "68d0474fc50d6d90bf3a98dfaf1040c89c02d692ab3b3c2896609d86fd73b774ce0740647ceeeaa310bd12f985a8eb9f59fdd426cea5"
      + "b2120f4f2a34bcab764b7e6c"
      + "54d6840238bcc40587a59e66ed1f33894577635c470af75cf92c20d1da43e1bfc419e222a6f0d0bb358c5e38f9cb050aeafe904814f1"
      + "ac1aa49cca9ea0ca83"
    let rsa = try rsaKey(modulus: hex(modulus), exponent: [1, 0, 1])
    #expect(rsa.jwk.hasPrefix(#"{"e":"AQAB","kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4"#))
    #expect(rsa.jwkThumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    let point = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    let ed25519 = try PublicKey(spki: unsafe (hex("302a300506032b6570032100") + point).span.bytes)
    #expect(ed25519.jwk == #"{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#)
    #expect(ed25519.jwkThumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    // RFC 7515 appendix A.3: the key's d.
    let scalar = hex("8e9b109e719098bf980487df1f5d77e9cb29606ebed2263b5f57c213df84f4b2")
    let key = try privateKey(ExampleCurve.p256.pem(scalar)).publicKey
    #expect(
      key.jwk == #"{"crv":"P-256","kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#)
  }

  @Test("A point that is not on its curve, or is written another way, is refused", arguments: ExampleCurve.allCases)
  func points(curve: ExampleCurve) throws {
    let spki = try Examples.key(curve.type).publicKey.spki
    let point = Array(spki.suffix(2 * curve.count + 1))
    func isKey(_ point: [UInt8]) -> Bool { (try? PublicKey(spki: unsafe curve.spki(point).span.bytes)) != nil }
    #expect(isKey(point) && curve.spki(point) == spki)
    for bit in 0..<8 * point.count { #expect(!isKey(point.flipping(bit: bit)), "\(bit)") }
    let zeros = [UInt8](repeating: 0, count: 2 * curve.count)
    for wrong in [[], [0], [4], [4] + zeros, [4] + zeros.map { _ in 0xFF }, Array(point.dropLast()), point + [0]] {
      #expect(!isKey(wrong))
    }
    #expect(throws: KeyError.unsupported("a compressed point")) {
      try PublicKey(spki: unsafe curve.spki([2] + point[1...curve.count]).span.bytes)
    }
  }

  @Test("An RSA key has 2048 to 8192 bits, an odd modulus, and an odd exponent of at most 64") func rsa() throws {
    func key(_ count: Int, _ first: UInt8, _ last: UInt8, _ exponent: [UInt8]) -> KeyError? {
      do throws(KeyError) {
        _ = try rsaKey(modulus: [first] + [UInt8](repeating: 1, count: count - 2) + [last], exponent: exponent)
        return nil
      } catch { return error }
    }
    for exponent in [[3], [1, 0, 1], [UInt8](repeating: 0xFF, count: 8)] { #expect(key(256, 0x80, 1, exponent) == nil) }
    #expect(key(1024, 0x80, 1, [3]) == nil)
    #expect(key(256, 0x7F, 1, [3]) == .size(bits: 2047) && key(1025, 1, 1, [3]) == .size(bits: 8193))
    #expect(key(2, 0x80, 1, [3]) == .size(bits: 16))
    #expect(key(256, 0x80, 2, [3])?.isDamaged == true)
    for wrong in [[], [1], [2], [1, 0], [1] + [UInt8](repeating: 1, count: 8)] as [[UInt8]] {
      #expect(key(256, 0x80, 1, wrong)?.isDamaged == true, "\(wrong)")
    }
  }

  @Test("Each form cut off, or with something behind it, is an error", arguments: KeyType.allCases)
  func truncated(type: KeyType) throws {
    let key = try Examples.key(type).publicKey
    for count in key.spki.indices {
      #expect(throws: KeyError.self) { try PublicKey(spki: unsafe Array(key.spki.prefix(count)).span.bytes) }
    }
    for count in key.sshBlob.indices {
      #expect(throws: KeyError.self) { try PublicKey(sshBlob: unsafe Array(key.sshBlob.prefix(count)).span.bytes) }
    }
    #expect(throws: KeyError.self) { try PublicKey(spki: unsafe (key.spki + [0]).span.bytes) }
    #expect(throws: KeyError.self) { try PublicKey(sshBlob: unsafe (key.sshBlob + [0]).span.bytes) }
    #expect(throws: KeyError.self) { try PublicKey(pem: unsafe Array((key.pem + key.pem).utf8).span.bytes) }
    for line in ["", "ssh-ed25519", "ssh-other \(key.openSSH().split(separator: " ")[1])", "\(key.sshName) AAA"] {
      #expect(throws: KeyError.self) { try PublicKey(openSSH: line) }
    }
  }

  @Test("A comment stays one line") func comment() throws {
    let key = try Examples.key(.ed25519).publicKey
    #expect(key.openSSH(comment: "a\nssh-rsa b\r\nc\u{2028}d\0").hasSuffix(" a ssh-rsa b c d "))
  }
}

import Testing
import VaultCore

@testable import VaultSigning

@Suite("A session with a peer of other code") struct ForeignSessionTests {
  private typealias Stand = SessionStand
  private static let exponent = [UInt8](0x21...0x40)

  @Test("uses the prime that RFC 2409 defines by π") func prime() throws {
    #expect(try Stand.python("print('%0256x' % P)", []) == [Stand.hexText(SecondOakleyGroup.prime)])
  }

  @Test("is read and written alike by Python and openssl", arguments: [0, 1, 15, 16, 17, 1000])
  func peer(count: Int) throws {
    let exponent = Stand.hexText(RandomBytes.array(count: 128))
    let peerKey = try Stand.python("print('%x' % pow(2, number(sys.argv[1]), P))", [exponent])[0]
    let session = try Stand.agree(hex(peerKey.count % 2 == 0 ? peerKey : "0" + peerKey))
    let secret = RandomBytes.array(count: count)
    let sent = try session.encode(secret)
    let answer = try Stand.python(
      """
      exponent, public = number(sys.argv[1]), number(sys.argv[2])
      k = key(pow(public, exponent, P))
      iv, value = bytes.fromhex(sys.argv[3]), bytes.fromhex(sys.argv[4])
      secret = aes("-d", k, iv, value)
      back = bytes(reversed(iv))
      print("=" + secret.hex(), back.hex(), aes("-e", k, back, secret + b"!").hex())
      """, [exponent, Stand.hexText(session.publicKey), Stand.hexText(sent.parameters), Stand.hexText(sent.value)])
    #expect(answer[0] == "=" + Stand.hexText(secret))
    #expect(try session.decode(Travelling(parameters: hex(answer[1]), value: hex(answer[2]))) == secret + [0x21])
  }

  @Test(
    "has the same key when the shared secret or its own public key begins with a zero byte",
    arguments: ["shared", "own"])
  func shortNumbers(short: String) throws {
    // The program looks for an exponent that makes the number short: one in 256 does.
    let found = try Stand.python(
      """
      ours, short = number(sys.argv[1]), sys.argv[2]
      while True:
          shared, public = pow(4, ours, P), pow(2, ours, P)
          if (shared if short == "shared" else public) < 2 ** 1016: break
          ours += 1
      iv = bytes(range(16))
      print("%064x" % ours, "%0256x" % public, iv.hex(), aes("-e", key(shared), iv, b"a secret").hex())
      """, [Stand.hexText(Self.exponent), short])
    // The peer's exponent is 2, so that its public key is 4.
    let session = try Stand.agree([4], exponent: hex(found[0]))
    #expect(session.publicKey == hex(found[1]) && (short == "shared" || session.publicKey[0] == 0))
    let read = try session.decode(Travelling(parameters: hex(found[2]), value: hex(found[3])))
    #expect(read == Array("a secret".utf8))
  }

  @Test(
    "is read and written alike by SecretStorage",
    .enabled(if: hasSecretStorage, "needs SecretStorage for /usr/bin/python3, which is not here"))
  func secretStorage() throws {
    let seed = Stand.hexText(RandomBytes.array(count: 128))
    let program = """
      import sys
      from secretstorage.dhcrypto import Session, DH_PRIME_1024
      from secretstorage.util import format_secret
      from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
      session = Session()
      session.object_path, session.my_private_key = "/s", int(sys.argv[1], 16)
      session.my_public_key = pow(2, session.my_private_key, DH_PRIME_1024)

      """
    let peerKey = try Stand.run(program + "print('%0256x' % session.my_public_key)", [seed])[0]
    let session = try Stand.agree(hex(peerKey))
    let sent = try session.encode(Array("to it".utf8))
    let answer = try Stand.run(
      program + """
        session.set_server_public_key(int(sys.argv[2], 16))
        iv, value = bytes.fromhex(sys.argv[3]), bytes.fromhex(sys.argv[4])
        reader = Cipher(algorithms.AES(session.aes_key), modes.CBC(iv)).decryptor()
        padded = reader.update(value) + reader.finalize()
        _, iv, value, _ = format_secret(session, b"from it", "text/plain")
        print(padded[:-padded[-1]].hex(), bytes(iv).hex(), bytes(value).hex())
        """,
      [seed, Stand.hexText(session.publicKey), Stand.hexText(sent.parameters), Stand.hexText(sent.value)])
    #expect(hex(answer[0]) == Array("to it".utf8))
    let read = try session.decode(Travelling(parameters: hex(answer[1]), value: hex(answer[2])))
    #expect(read == Array("from it".utf8))
  }

  private static let hasSecretStorage = (try? SessionStand.run("import secretstorage, cryptography", [])) != nil
}

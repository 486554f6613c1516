import Foundation
import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("Keys that openssl and ssh-keygen make") struct ForeignKeyTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test(
    "are read in each form: the public half is what those programs say it is, in every form of it",
    arguments: keyRecipes.indices)
  func publicHalf(index: Int) throws {
    let (name, line) = keyRecipes[index]
    try workshop.run(line)
    let key = try privateKey(workshop.text("key"))
    let ours = key.publicKey
    if name.hasPrefix("Ed25519 in") {
      // OpenSSH does not read Ed25519 in this form.
      try workshop.run("openssl pkey -in key -pubout -out public")
      #expect(try ours.pem == workshop.text("public"))
    } else {
      let words = try workshop.run("ssh-keygen -y -f key").split { $0 == " " || $0 == "\n" }
      #expect(ours.openSSH().split(separator: " ") == Array(words.prefix(2)))
      #expect(key.comment == (name.hasSuffix("OpenSSH") ? "a comment" : ""))
    }
    // Each form is read back as the same key.
    #expect(try PublicKey(sshBlob: unsafe ours.sshBlob.span.bytes) == ours)
    #expect(try PublicKey(openSSH: ours.openSSH(comment: "x y")) == ours)
    #expect(try PublicKey(spki: unsafe ours.spki.span.bytes) == ours)
    #expect(try PublicKey(pem: unsafe Array(ours.pem.utf8).span.bytes) == ours)
    // openssl reads and writes the same text, and ssh-keygen shows the same fingerprint.
    try workshop.write(ours.pem.utf8, "ours.pem")
    try workshop.run("openssl pkey -pubin -in ours.pem -pubout -out again.pem && cmp ours.pem again.pem")
    try workshop.write((ours.openSSH(comment: "x y") + "\n").utf8, "ours.pub")
    let shown = try workshop.run("ssh-keygen -l -f ours.pub").split(separator: " ")
    #expect(shown[0] == "\(ours.bitCount)" && shown[1] == ours.fingerprint && shown[2] == "x")
  }

  @Test("are written again so that both programs read them, and are the same keys", arguments: keyRecipes.indices)
  func written(index: Int) throws {
    try workshop.run(keyRecipes[index].line)
    let key = try privateKey(workshop.text("key"))
    let pkcs8 = text(key.pkcs8())
    try workshop.write(pkcs8.utf8, "pkcs8")
    try workshop.run("openssl pkey -in pkcs8 -check -noout")
    try workshop.run("openssl pkey -in pkcs8 -pubout -out public")
    #expect(try workshop.text("public") == key.publicKey.pem)
    let openSSH = text(key.openSSHPrivate(comment: "ours"))
    try workshop.write(openSSH.utf8, "openssh")
    #expect(try workshop.run("ssh-keygen -y -f openssh") == key.publicKey.openSSH(comment: "ours") + "\n")
    for again in [pkcs8, openSSH] {
      let again = try privateKey(again)
      #expect(again.publicKey == key.publicKey && text(again.pkcs8()) == pkcs8)
    }
  }

  @Test("are told to be encrypted, in each of the three forms") func encrypted() throws {
    for line in [
      "openssl genpkey -algorithm ed25519 -aes256 -pass pass:secret -out key",
      "openssl genrsa -traditional -aes128 -passout pass:secret -out key 2048",
      "openssl ecparam -genkey -noout -name prime256v1 | openssl ec -aes128 -passout pass:secret -out key",
      "rm key; ssh-keygen -q -t ed25519 -N secret -f key",
      "rm key key.pub; ssh-keygen -q -t rsa -b 2048 -N secret -f key",
    ] {
      try workshop.run(line)
      #expect(refusal(try workshop.text("key")) == .encrypted(isOpenSSH: line.contains("ssh-keygen")), "\(line)")
    }
  }

  @Test("of other types are refused by name, and RSA keys by their size") func unsupported() throws {
    for (line, what) in [
      ("openssl genpkey -algorithm ed448 -out key", "an Ed448 key"),
      ("openssl genpkey -algorithm x25519 -out key", "an X25519 key"),
      ("openssl genpkey -algorithm rsa-pss -pkeyopt rsa_keygen_bits:2048 -out key", "an RSA key for PSS alone"),
      ("openssl ecparam -genkey -noout -name secp256k1 -out key", "a curve other than P-256, P-384 and P-521"),
      ("openssl dsaparam -genkey -noout -out key 1024", "a DSA key"),
      ("openssl dsaparam -genkey 1024 | openssl pkcs8 -topk8 -nocrypt -out key", "a DSA key"),
      ("rm key; ssh-keygen -q -t dsa -N '' -f key", "a DSA key"),
      (
        "openssl ecparam -genkey -noout -name prime256v1 -param_enc explicit -out key", "a curve without a name"
      ),
    ] {
      try workshop.run(line)
      #expect(refusal(try workshop.text("key")) == .unsupported(what), "\(line)")
    }
    for bits in [1024, 2047] {
      try workshop.run("openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:\(bits) -out key")
      #expect(refusal(try workshop.text("key")) == .size(bits: bits))
    }
  }

  @Test("are found beside a certificate and parameters; none and two of them are errors") func besides() throws {
    try workshop.run(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -subj /CN=x -out "
        + "certificate"
    )
    let (key, certificate) = try (workshop.text("key"), workshop.text("certificate"))
    let both = try privateKey(certificate + key)
    #expect(both.type == .p256)
    #expect(refusal(certificate) == .noKey && refusal("") == .noKey)
    #expect(refusal(key + key)?.isDamaged == true)
  }

  @Test(
    "beside the certificate or the public half of another key are refused, and beside their own, in any order, are not",
    arguments: ["ec -pkeyopt ec_paramgen_curve:prime256v1", "rsa:2048", "ed25519"])
  func companions(type: String) throws {
    for name in ["a", "b"] {
      try workshop.run(
        "openssl req -x509 -newkey \(type) -nodes -keyout \(name).key -subj /CN=\(name) -out \(name).crt")
      try workshop.run("openssl pkey -in \(name).key -pubout -out \(name).pub")
    }
    try workshop.run("openssl req -x509 -newkey ed448 -nodes -keyout c.key -subj /CN=c -out c.crt")
    func refusal(_ names: String...) throws -> KeyError? {
      VaultSigningTests.refusal(try names.map { try workshop.text($0) }.joined())
    }
    for names in [["a.key", "a.crt"], ["a.crt", "a.key", "b.crt"], ["b.crt", "a.key", "a.crt"], ["a.key", "a.pub"]] {
      let text = try names.map { try workshop.text($0) }.joined()
      #expect(VaultSigningTests.refusal(text) == nil, "\(names)")
    }
    func order(_ names: String...) throws -> KeyError? {
      let text = try names.map { try workshop.text($0) }.joined()
      let key = try privateKey(text).publicKey
      do throws(KeyError) { try unsafe key.leads(certificatesOf: Array(text.utf8).span.bytes) } catch { return error }
      return nil
    }
    // Servers present the first certificate, so another key's certificate there makes no connection; a stored one of
    // that kind can still be read.
    #expect(try order("b.crt", "a.key", "a.crt") == .certificateOrder)
    #expect(try order("a.key", "b.crt", "a.crt") == .certificateOrder)
    #expect(try order("a.crt", "a.key", "b.crt") == nil && order("a.key", "a.pub") == nil)
    #expect(try refusal("a.key", "b.crt") == .otherCertificate && refusal("b.crt", "a.key") == .otherCertificate)
    #expect(try refusal("a.key", "b.pub") == .mismatched)
    // A certificate of a key type that nothing here supports.
    #expect(try refusal("a.key", "c.crt") == .otherCertificate)
    // For a signature, the key has already been checked.
    let known = try privateKey(workshop.text("a.key")).publicKey
    let text = try workshop.bytes("a.key") + workshop.bytes("b.crt")
    #expect(throws: Never.self) { _ = try PrivateKey(unsafe text.span.bytes, trusting: known) }
  }

  @Test(
    "beside the public line of another key are found out, and beside their own are not", arguments: ["ed25519", "rsa"])
  func lines(type: String) throws {
    for name in ["a", "b"] {
      try workshop.run("ssh-keygen -q -t \(type) -N '' -C '\(name)@host' -f \(name)")
    }
    func refusal(_ names: String...) throws -> KeyError? {
      let text = try names.map { try workshop.text($0) }.joined()
      let key = try privateKey(text).publicKey
      do throws(KeyError) { try unsafe key.agrees(withLinesOf: Array(text.utf8).span.bytes) } catch { return error }
      return nil
    }
    #expect(try refusal("a") == nil && refusal("a", "a.pub") == nil && refusal("a.pub", "a") == nil)
    #expect(try refusal("a", "b.pub") == .mismatched && refusal("b.pub", "a") == .mismatched)
    #expect(try refusal("a", "a.pub", "b.pub") == .mismatched)
    // A line that is cut off, or of another type, says nothing of a key.
    try workshop.run("cut -c 1-40 b.pub >cut; sed 's/^ssh-/sk-ssh-/' b.pub >other")
    #expect(try refusal("a", "cut") == nil && refusal("a", "other") == nil)
  }

  @Test("beside the parameters of another curve are refused") func parameters() throws {
    try workshop.run("openssl ecparam -genkey -noout -name prime256v1 -out key")
    try workshop.run("openssl ecparam -name prime256v1 -out own && openssl ecparam -name secp384r1 -out other")
    let key = try workshop.text("key")
    #expect(refusal(try workshop.text("own") + key) == nil)
    #expect(refusal(try workshop.text("other") + key)?.isDamaged == true)
  }

  @Test("with a public half that is known need no check, and sign the same") func trusting() throws {
    for (name, line) in keyRecipes where !name.contains("without") {
      try workshop.run("rm -f key key.pub; " + line)
      let bytes = try workshop.bytes("key")
      let key = try PrivateKey(unsafe bytes.span.bytes)
      let trusting = try PrivateKey(unsafe bytes.span.bytes, trusting: key.publicKey)
      let scheme = key.type.schemes[0]
      #expect(trusting.publicKey == key.publicKey && trusting.comment == key.comment)
      #expect(try trusting.sign([1, 2, 3], scheme) == key.sign([1, 2, 3], scheme))
      // A public key of another type is always noticed.
      let other = try NewKey.key(key.type == .ed25519 ? .p256 : .ed25519).publicKey
      #expect(throws: KeyError.mismatched) { _ = try PrivateKey(unsafe bytes.span.bytes, trusting: other) }
    }
  }
}

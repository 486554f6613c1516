import Foundation
import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("Signatures between openssl, ssh-keygen and us") struct ForeignSignatureTests {
  private let workshop: Workshop
  private static let messages: [[UInt8]] = [[], Array("a message".utf8), [UInt8](repeating: 0xA5, count: 5000)]

  init() throws { workshop = try Workshop() }

  /// Returns openssl's options for a scheme.
  private func options(_ scheme: SignatureScheme) -> String {
    let pss = "-pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:digest"
    return switch scheme {
    case .ed25519: "-rawin"
    case .ecdsaSHA256, .rsaPKCS1SHA256: "-rawin -digest sha256"
    case .ecdsaSHA384, .rsaPKCS1SHA384: "-rawin -digest sha384"
    case .ecdsaSHA512, .rsaPKCS1SHA512: "-rawin -digest sha512"
    case .rsaPSSSHA256: "-rawin -digest sha256 \(pss)"
    case .rsaPSSSHA384: "-rawin -digest sha384 \(pss)"
    case .rsaPSSSHA512: "-rawin -digest sha512 \(pss)"
    }
  }

  private static let recipes: [KeyType: String] = [
    .ed25519: "openssl genpkey -algorithm ed25519 -out key",
    .p256: "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key",
    .p384: "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key",
    .p521: "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -out key",
    .rsa: "openssl genpkey -algorithm rsa -pkeyopt rsa_keygen_bits:2051 -out key",
  ]

  @Test("each checks the other's, in each scheme", arguments: SignatureScheme.allCases)
  func crossed(scheme: SignatureScheme) throws {
    try workshop.run(Self.recipes[scheme.keyType]!)
    try workshop.run("openssl pkey -in key -pubout -out public")
    let key = try privateKey(workshop.text("key"))
    let type = scheme.keyType
    for message in Self.messages {
      try workshop.write(message, "message")
      let ours = try key.sign(message, scheme)
      #expect(key.publicKey.verifies(ours, of: message, scheme))
      // openssl expects ECDSA signatures in DER.
      try workshop.write(ECDSASignature(ours, type)?.der ?? ours, "ours")
      // openssl 3.0 signs no empty message with Ed25519.
      guard !message.isEmpty || type != .ed25519 else { continue }
      try workshop.run("openssl pkeyutl -verify -pubin -inkey public -in message -sigfile ours \(options(scheme))")
      try workshop.run("openssl pkeyutl -sign -inkey key -in message -out theirs \(options(scheme))")
      let bytes = try workshop.bytes("theirs")
      let theirs = ECDSASignature(der: bytes, type)?.bytes ?? bytes
      #expect(key.publicKey.verifies(theirs, of: message, scheme))
      #expect(!key.publicKey.verifies(theirs, of: message + [0], scheme))
      for other in SignatureScheme.allCases where other != scheme {
        #expect(!key.publicKey.verifies(theirs, of: message, other))
      }
      // Ed25519 and PKCS #1 have exactly one signature of a message.
      if type == .ed25519
        || options(scheme).hasPrefix("-rawin -digest") && type == .rsa && !options(scheme).contains("pss")
      {
        #expect(theirs == ours)
      }
    }
  }

  @Test("ssh-keygen's signatures are right in SSH's form, and ours for it") func ssh() throws {
    for (type, options) in [
      ("ed25519", ""), ("ecdsa", "-b 256"), ("ecdsa", "-b 384"), ("ecdsa", "-b 521"), ("rsa", "-b 2048"),
    ] {
      try workshop.run("rm -f key key.pub message message.sig; ssh-keygen -q -t \(type) \(options) -N '' -f key")
      try workshop.write(Array("a message".utf8), "message")
      try workshop.run("ssh-keygen -q -Y sign -n vault -f key message")
      let key = try privateKey(workshop.text("key"))
      // OpenSSH's PROTOCOL.sshsig: the signed part names the namespace, the hash and the digest.
      let digest = try hex(workshop.run("sha512sum message").prefix(128))
      let signed = Array("SSHSIG".utf8) + string("vault") + string("") + string("sha512") + string(digest)
      let file = try unpem(workshop.text("message.sig"))
      let head =
        Array("SSHSIG".utf8) + [0, 0, 0, 1] + string(key.publicKey.sshBlob) + string("vault") + string("")
        + string("sha512")
      try #require(file.starts(with: head))
      let theirs = Array(file.dropFirst(head.count + 4))
      #expect(key.publicKey.verifies(sshSignature: unsafe theirs.span.bytes, of: unsafe signed.span.bytes))
      let ours = try key.sshSignature(of: unsafe signed.span.bytes, flags: type == "rsa" ? 4 : 0)
      try workshop.write(pem("SSH SIGNATURE", head + string(ours)).utf8, "message.sig")
      try workshop.write("me \(key.publicKey.openSSH())\n".utf8, "signers")
      try workshop.run("ssh-keygen -q -Y verify -n vault -f signers -I me -s message.sig <message")
    }
  }

  private func string(_ bytes: [UInt8]) -> [UInt8] {
    [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
  }

  private func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }
}

internal import VaultBytes
internal import VaultModel

/// The forms of a private key's text, identified by the label of the PEM block.
enum PrivateKeyForm: CaseIterable {
  case pkcs8, sec1, pkcs1, openSSH

  /// Finds the only private key in `text`.
  static func find(in text: RawSpan) throws(KeyError) -> (PrivateKeyForm, PEMBlock) {
    var found: (PrivateKeyForm, PEMBlock)?
    var position = 0
    while true {
      let next: PEMBlock?
      do { next = try PEM.block(in: text, from: position) } catch { throw .damaged(error.reason) }
      guard let block = next else { break }
      if let form = try form(of: block, in: text) {
        guard found == nil else { throw .damaged("there is more than one private key") }
        found = (form, block)
      }
      position = block.end
    }
    guard let found else { throw .noKey }
    return found
  }

  /// The form of a block; nil for a block that is not a private key.
  private static func form(of block: PEMBlock, in text: RawSpan) throws(KeyError) -> PrivateKeyForm? {
    func has(_ label: StaticString) -> Bool { block.isLabelled(label, in: text) }
    if has("ENCRYPTED PRIVATE KEY") { throw .encrypted(isOpenSSH: false) }
    if has("DSA PRIVATE KEY") { throw .unsupported("a DSA key") }
    let form: PrivateKeyForm
    if has("PRIVATE KEY") {
      form = .pkcs8
    } else if has("EC PRIVATE KEY") {
      form = .sec1
    } else if has("RSA PRIVATE KEY") {
      form = .pkcs1
    } else if has("OPENSSH PRIVATE KEY") {
      form = .openSSH
    } else {
      return nil
    }
    // OpenSSL's older encryption (RFC 1421) has headers above the body.
    guard !block.hasHeaders else { throw .encrypted(isOpenSSH: false) }
    return form
  }

  /// Finds the parts of a key in the block's bytes.
  func parts(_ bytes: RawSpan) throws(KeyError) -> KeyParts {
    switch self {
    case .pkcs8: try PKCS8.parts(bytes)
    case .sec1: try PKCS8.sec1(bytes, bytes.byteOffsets)
    case .pkcs1: try PKCS8.rsa(bytes, bytes.byteOffsets)
    case .openSSH: try OpenSSHPrivate.parts(bytes)
    }
  }
}

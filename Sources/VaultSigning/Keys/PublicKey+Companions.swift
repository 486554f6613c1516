internal import VaultBytes
internal import VaultModel

/// The parts beside a private key in a text: certificates, the public key, the parameters of the curve.
extension PublicKey {
  /// Throws unless the parts beside the private key fit this key. If there are several certificates, one must be for
  /// this key; the others are those of its issuers.
  ///
  /// A certificate is accepted if this program cannot read the form of its key, because it may be for this key.
  func agrees(withBlocksOf text: RawSpan) throws(KeyError) {
    var (certificates, own) = (0, 0)
    var position = 0
    while true {
      let next: PEMBlock?
      do { next = try PEM.block(in: text, from: position) } catch { throw .damaged(error.reason) }
      guard let block = next else { break }
      position = block.end
      if block.isLabelled("CERTIFICATE", in: text) {
        certificates += 1
        if try isOf(certificate: block, in: text) { own += 1 }
      } else if block.isLabelled("PUBLIC KEY", in: text) {
        let isSame = try Self.reading(block, text) { der in isStated(in: der) }
        guard isSame else { throw .mismatched }
      } else if block.isLabelled("EC PARAMETERS", in: text), case .curve(let curve, _) = form {
        let isSame = try Self.reading(block, text) { der in
          var fields = DERCursor(der.byteOffsets)
          return (try? Curve(&fields, in: der)).map { $0 == curve } ?? true
        }
        guard isSame else { throw .damaged("the parameters beside it are those of another curve") }
      }
    }
    guard certificates == 0 || own > 0 else { throw .otherCertificate }
  }

  /// Throws if the first certificate in the text is not for this key. Servers present the first one (RFC 8446, section
  /// 4.4.2), and no connection succeeds with a certificate for another key.
  ///
  /// A key that was stored with its certificates in another order can still be read.
  public func leads(certificatesOf text: RawSpan) throws(KeyError) {
    var position = 0
    while true {
      let next: PEMBlock?
      do { next = try PEM.block(in: text, from: position) } catch { throw .damaged(error.reason) }
      guard let block = next else { return }
      position = block.end
      guard block.isLabelled("CERTIFICATE", in: text) else { continue }
      guard try isOf(certificate: block, in: text) else { throw .certificateOrder }
      return
    }
  }

  /// Throws if a line of the text is the public half of another key in OpenSSH's form, as in a `.pub` file.
  ///
  /// A key that was stored with such a line can still be read.
  public func agrees(withLinesOf text: RawSpan) throws(KeyError) {
    var start = 0
    while start < text.byteCount {
      let end = text.first(UInt8(ascii: "\n"), from: start)
      defer { start = end + 1 }
      guard Self.lineTypes.contains(where: { text.isEqual(start..<min(start + $0.count, end), $0) }) else { continue }
      let line = String(decoding: text.array(start..<end), as: UTF8.self)
      // Text that only looks like a public key is ignored.
      if let other = try? PublicKey(openSSH: line), other != self { throw .mismatched }
    }
  }

  /// The beginnings of lines with a public key. A line of any other type, such as a certificate, may belong to this
  /// key.
  private static let lineTypes = KeyType.allCases.map { Array("\($0.facts.sshName) ".utf8) }

  /// True if the certificate is, or may be, for this key.
  private func isOf(certificate block: PEMBlock, in text: RawSpan) throws(KeyError) -> Bool {
    try Self.reading(block, text) { der in
      Certificate.publicKey(in: der).map { isStated(in: der.extracting($0)) } ?? true
    }
  }

  /// True if the SubjectPublicKeyInfo is, or may be, that of this key.
  private func isStated(in spki: RawSpan) -> Bool {
    do throws(KeyError) { return try PublicKey(spki: spki) == self } catch { return error.isOfForm }
  }

  private static func reading(
    _ block: PEMBlock, _ text: RawSpan, _ body: (RawSpan) -> Bool
  ) throws(KeyError) -> Bool {
    let bytes: SecretBuffer
    do throws(PEMFault) { bytes = try PEM.decode(block, in: text) } catch { throw .damaged(error.reason) }
    return bytes.withBytes(body)
  }
}

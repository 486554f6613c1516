internal import VaultCore
internal import VaultModel

extension PrivateKey {
  /// Makes the key from the parts that a parser found. If no public key is given, the public half
  /// is computed and checked.
  init(_ parts: KeyParts, in bytes: RawSpan, trusting publicKey: PublicKey?) throws(KeyError) {
    let comment = parts.comment.map { String(decoding: bytes.array($0), as: UTF8.self) } ?? ""
    switch parts.secret {
    case .ed25519(let seed):
      let seed = bytes.extracting(seed)
      guard let publicKey else {
        let secret = Ed25519.secretKey(seed: seed)
        let publicKey = try PublicKey(checking: .ed25519(Ed25519.publicKey(of: secret)))
        self.init(.ed25519(secret), publicKey, comment: comment)
        return
      }
      guard case .ed25519(let known) = publicKey.form else { throw .mismatched }
      self.init(.ed25519(Ed25519.secretKey(seed: seed, trusting: known)), publicKey, comment: comment)
    case .curve(let curve, let scalar):
      guard (1...curve.count).contains(scalar.count) else { throw .damaged("a private scalar has another size") }
      let number = try KeyError.passing { () throws(SigningError) in try Number(secret: bytes.extracting(scalar)) }
      let publicKey = try Self.publicKey(curve, number, publicKey)
      self.init(.curve(CurveSecret(curve, number)), publicKey, comment: comment)
    case .rsa(let numbers):
      let known = try PublicKey(
        checking: .rsa(modulus: bytes.array(numbers.modulus), exponent: bytes.array(numbers.publicExponent)))
      if let publicKey, publicKey != known { throw .mismatched }
      let secret = try KeyError.passing { () throws(SigningError) in try RSASecret(numbers, in: bytes) }
      if publicKey == nil { try Self.check(secret, numbers, bytes) }
      self.init(.rsa(secret), known, comment: comment)
    }
  }

  /// Makes a signature with an RSA key, which fails if a number that should be prime is not. This takes as long as any
  /// signature, so it is for a key that is about to be stored. Keys of other types need no such check.
  ///
  /// - Throws: ``KeyError/damaged(_:)``.
  public borrowing func checkPrimes() throws(KeyError) {
    guard type == .rsa else { return }
    let message = Array("a message that says nothing".utf8)
    // Bytes have no padding.
    do throws(SigningError) { _ = try sign(unsafe message.span.bytes, .rsaPKCS1SHA256) } catch {
      throw .damaged("its numbers make no valid signature")
    }
  }

  private static func publicKey(
    _ curve: Curve, _ scalar: borrowing Number, _ publicKey: PublicKey?
  ) throws(KeyError) -> PublicKey {
    if let publicKey {
      guard publicKey.type == curve.type else { throw .mismatched }
      return publicKey
    }
    let point: [UInt8]?
    do { point = try curve.publicPoint(of: scalar) } catch { throw .library(error) }
    guard let point else { throw .damaged("a private scalar is out of range") }
    return try PublicKey(checking: .curve(curve, point))
  }

  private static func check(
    _ secret: borrowing RSASecret, _ numbers: KeyParts.RSA, _ bytes: RawSpan
  ) throws(KeyError) {
    do {
      guard secret.hasLargePrimes else { throw KeyError.damaged("one of its primes is too small") }
      guard try secret.isConsistent() else { throw KeyError.mismatched }
      if let (first, second) = numbers.exponents {
        let dP = try Number(secret: bytes.extracting(first))
        let dQ = try Number(secret: bytes.extracting(second))
        guard try secret.hasExponents(dP, dQ) else { throw KeyError.mismatched }
      }
    } catch let error as SigningError { throw .library(error) } catch let error as KeyError { throw error } catch {
      throw .mismatched
    }
  }
}

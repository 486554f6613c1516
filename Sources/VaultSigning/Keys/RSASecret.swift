/// The numbers of a private RSA key, with their names from RFC 8017 section 3.2, all in secure memory.
struct RSASecret: ~Copyable {
  /// The modulus and the public exponent.
  let n, e: Number
  /// The private exponent, the primes, and the inverse of q modulo p.
  let d, p, q, qInv: Number

  /// Reads the numbers from the places where a parser found them.
  init(_ parts: KeyParts.RSA, in bytes: RawSpan) throws(SigningError) {
    let n = try Number(secret: bytes.extracting(parts.modulus))
    let e = try Number(secret: bytes.extracting(parts.publicExponent))
    let d = try Number(secret: bytes.extracting(parts.exponent))
    let p = try Number(secret: bytes.extracting(parts.prime1))
    let q = try Number(secret: bytes.extracting(parts.prime2))
    let qInv = try Number(secret: bytes.extracting(parts.coefficient))
    self.init(n: n, e: e, d: d, p: p, q: q, qInv: qInv)
  }

  init(
    n: consuming Number, e: consuming Number, d: consuming Number, p: consuming Number, q: consuming Number,
    qInv: consuming Number
  ) {
    self.n = n
    self.e = e
    self.d = d
    self.p = p
    self.q = q
    self.qInv = qInv
  }

  /// True if the numbers fit together: n = p·q, and d is the inverse of e for each of the primes. Whether p and q are
  /// prime is not checked, because that would take seconds: see ``PrivateKey/checkPrimes()``, which takes as long as a
  /// signature.
  func isConsistent() throws(SigningError) -> Bool {
    guard p.isOdd, q.isOdd, p.compare(1) > 0, q.compare(1) > 0, p.compare(q) != 0, d.compare(n) < 0,
      try p.times(q).compare(n) == 0
    else { return false }
    guard try d.isInverse(of: e, p.minusOne()), try d.isInverse(of: e, q.minusOne()) else { return false }
    guard qInv.compare(p) < 0 else { return false }
    return try qInv.isInverse(of: q, p)
  }

  /// True if each prime has at least a quarter of the modulus's bits, so that trial division finds neither.
  var hasLargePrimes: Bool { 4 * min(p.bitCount, q.bitCount) >= n.bitCount }

  /// True if these are the private exponent modulo p minus one and modulo q minus one.
  func hasExponents(_ dP: borrowing Number, _ dQ: borrowing Number) throws(SigningError) -> Bool {
    guard try d.rest(p.minusOne()).compare(dP) == 0 else { return false }
    return try d.rest(q.minusOne()).compare(dQ) == 0
  }
}

/// The numbers of a private RSA key by their names in RFC 8017 section 3.2, all of them in secure memory.
struct RSASecret: ~Copyable {
  /// The modulus and the public exponent.
  let n, e: Number
  /// The private exponent, the primes, and the inverse of q by p.
  let d, p, q, qInv: Number

  /// Takes the numbers from where they were found.
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

  /// True when the numbers fit each other: n = p·q, and d undoes e for each of the primes. That p and q are primes is not
  /// looked at, which would take seconds: see ``PrivateKey/checkPrimes()``, which takes as long as a signature.
  func isConsistent() throws(SigningError) -> Bool {
    guard p.isOdd, q.isOdd, p.compare(1) > 0, q.compare(1) > 0, p.compare(q) != 0, d.compare(n) < 0,
      try p.times(q).compare(n) == 0
    else { return false }
    guard try d.isInverse(of: e, p.minusOne()), try d.isInverse(of: e, q.minusOne()) else { return false }
    guard qInv.compare(p) < 0 else { return false }
    return try qInv.isInverse(of: q, p)
  }

  /// True when each prime has a quarter of the modulus' bits or more, so that neither is found by trial.
  var hasLargePrimes: Bool { 4 * min(p.bitCount, q.bitCount) >= n.bitCount }

  /// True when these are the private exponent's rests by each prime without one.
  func hasExponents(_ dP: borrowing Number, _ dQ: borrowing Number) throws(SigningError) -> Bool {
    guard try d.rest(p.minusOne()).compare(dP) == 0 else { return false }
    return try d.rest(q.minusOne()).compare(dQ) == 0
  }
}

internal import CGcrypt
internal import VaultModel

/// The NIST curves over prime fields (FIPS 186-4 appendix D.1.2).
enum Curve: CaseIterable, Sendable {
  case p256, p384, p521

  /// All in which the curves differ.
  struct Facts: Sendable {
    let type: KeyType
    /// The size of the field in bits.
    let bits: Int
    /// The name in JOSE (RFC 7518 section 6.2.1.1).
    let joseName: String
    /// The name in SSH (RFC 5656 section 10.1).
    let sshName: String
    /// The contents octets of the object identifier (RFC 5480 section 2.1.1.1).
    let identifier: [UInt8]
  }

  var facts: Facts {
    switch self {
    case .p256:
      Facts(
        type: .p256, bits: 256, joseName: "P-256", sshName: "nistp256",
        identifier: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    case .p384:
      Facts(
        type: .p384, bits: 384, joseName: "P-384", sshName: "nistp384", identifier: [0x2B, 0x81, 0x04, 0x00, 0x22])
    case .p521:
      Facts(
        type: .p521, bits: 521, joseName: "P-521", sshName: "nistp521", identifier: [0x2B, 0x81, 0x04, 0x00, 0x23])
    }
  }

  var type: KeyType { facts.type }
  /// The size in bytes of a coordinate, of a private scalar and of each half of a signature.
  var count: Int { (facts.bits + 7) / 8 }
  /// The size in bytes of an uncompressed point: 4, x and y.
  var pointCount: Int { 1 + 2 * count }
  /// The name in libgcrypt.
  var name: String { "NIST \(facts.joseName)" }
}

/// Computations in the group, done by libgcrypt.
extension Curve {
  /// True if `point` is an uncompressed point of the curve (SEC 1 section 2.3.3) with coordinates
  /// below the field's prime.
  func contains(_ point: [UInt8]) throws(SigningError) -> Bool {
    guard point.count == pointCount, point[0] == 4 else { return false }
    let x = try Number(point[1...count])
    let y = try Number(point[(1 + count)...])
    let one = try Number([1])
    let group = try Group(self)
    let prime = try group.number("p")
    guard x.compare(prime) < 0, y.compare(prime) < 0 else { return false }
    let place = unsafe gcry_mpi_point_set(nil, x.handle, y.handle, one.handle)
    defer { unsafe gcry_mpi_point_release(place) }
    return unsafe gcry_mpi_ec_curve_point(place, group.context) != 0
  }

  /// The uncompressed public point of a private scalar; nil if the scalar is 0, or not below the group's order.
  func publicPoint(of scalar: borrowing Number) throws(SigningError) -> [UInt8]? {
    let group = try Group(self)
    guard scalar.compare(0) > 0, scalar.compare(try group.number("n")) < 0 else { return nil }
    let base = unsafe gcry_mpi_ec_get_point("g", group.context, 1)
    let place = unsafe gcry_mpi_point_new(0)
    defer {
      unsafe gcry_mpi_point_release(base)
      unsafe gcry_mpi_point_release(place)
    }
    let x = try Number()
    let y = try Number()
    unsafe gcry_mpi_ec_mul(place, scalar.handle, base, group.context)
    guard unsafe gcry_mpi_ec_get_affine(x.handle, y.handle, place, group.context) == 0,
      let left = x.digits(count: count), let right = y.digits(count: count)
    else { return nil }
    return [4] + left + right
  }

  /// A new private scalar: a random number, drawn again until it is above 0 and below the order.
  func newScalar() throws(SigningError) -> Number {
    let order = try Group(self).number("n")
    while true {
      let scalar = try Number.random(bitCount: order.bitCount)
      if scalar.compare(0) > 0, scalar.compare(order) < 0 { return scalar }
    }
  }
}

/// The parameters of a curve, with libgcrypt's context for computing on it.
@safe private struct Group: ~Copyable {
  /// The context, valid as long as this value lives.
  let context: gcry_ctx_t

  init(_ curve: Curve) throws(SigningError) {
    try Gcrypt.start()
    var context: gcry_ctx_t?
    try Gcrypt.check(unsafe gcry_mpi_ec_new(&context, nil, curve.name))
    guard let context = unsafe context else { throw SigningError("libgcrypt: no curve") }
    unsafe self.context = context
  }

  deinit { unsafe gcry_ctx_release(context) }

  /// A copy of a parameter: `p` is the prime of the field, `n` the order of the group.
  func number(_ name: String) throws(SigningError) -> Number {
    try unsafe Number(taking: gcry_mpi_ec_get_mpi(name, context, 1))
  }
}

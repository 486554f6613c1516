internal import CGcrypt

/// The NIST curves over prime fields (FIPS 186-4 appendix D.1.2), with their names in each protocol.
enum Curve: CaseIterable, Sendable {
  case p256, p384, p521

  var type: KeyType {
    switch self {
    case .p256: .p256
    case .p384: .p384
    case .p521: .p521
    }
  }

  /// The size in bytes of a coordinate, of a private scalar and of each half of a signature.
  var count: Int {
    switch self {
    case .p256: 32
    case .p384: 48
    case .p521: 66
    }
  }

  /// The size in bytes of an uncompressed point: 4, x and y.
  var pointCount: Int { 1 + 2 * count }

  /// The name in JOSE (RFC 7518 section 6.2.1.1).
  var joseName: String {
    switch self {
    case .p256: "P-256"
    case .p384: "P-384"
    case .p521: "P-521"
    }
  }

  /// The name in libgcrypt.
  var name: String { "NIST \(joseName)" }

  /// The name in SSH (RFC 5656 section 10.1).
  var sshName: String {
    switch self {
    case .p256: "nistp256"
    case .p384: "nistp384"
    case .p521: "nistp521"
    }
  }

  /// The contents octets of the object identifier (RFC 5480 section 2.1.1.1).
  var identifier: [UInt8] {
    switch self {
    case .p256: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    case .p384: [0x2B, 0x81, 0x04, 0x00, 0x22]
    case .p521: [0x2B, 0x81, 0x04, 0x00, 0x23]
    }
  }
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

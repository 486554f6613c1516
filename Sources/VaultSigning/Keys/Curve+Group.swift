internal import CGcrypt
internal import VaultModel

/// Computations in the group of the curve's points, by libgcrypt.
extension Curve {
  /// The name in libgcrypt.
  var name: String { "NIST \(facts.joseName)" }

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

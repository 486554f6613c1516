internal import VaultModel

/// The private scalar of a key on a curve, in secure memory.
struct CurveSecret: ~Copyable {
  let curve: Curve
  /// The scalar, above 0 and below the group's order.
  let scalar: Number

  init(_ curve: Curve, _ scalar: consuming Number) {
    self.curve = curve
    self.scalar = scalar
  }
}

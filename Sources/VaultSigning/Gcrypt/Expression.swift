internal import CGcrypt

/// An S-expression, the form in which libgcrypt takes keys, messages and signatures. It is released with this value,
/// and wiped if it lies in secure memory.
@safe struct Expression: ~Copyable {
  /// The expression, valid as long as this value lives.
  let handle: gcry_sexp_t

  /// Takes the expression that `make` creates.
  init(_ make: (UnsafeMutablePointer<gcry_sexp_t?>) -> gcry_error_t) throws(SigningError) {
    try Gcrypt.start()
    var handle: gcry_sexp_t?
    try Gcrypt.check(unsafe make(&handle))
    guard let handle = unsafe handle else { throw SigningError("libgcrypt: no expression") }
    unsafe self.handle = handle
  }

  deinit { unsafe gcry_sexp_release(handle) }

  /// The number after `name`, which is one letter. The number is secret.
  func secretNumber(_ name: String) throws(SigningError) -> Number {
    try unsafe Number(taking: vault_secret_part(handle, name))
  }

  /// The number after `name`, which is one letter. The number is not secret.
  func number(_ name: String) throws(SigningError) -> Number {
    let list = unsafe gcry_sexp_find_token(handle, name, 1)
    guard let list = unsafe list else { throw SigningError("libgcrypt: no \(name)") }
    defer { unsafe gcry_sexp_release(list) }
    return try unsafe Number(taking: gcry_sexp_nth_mpi(list, 1, Int32(GCRYMPI_FMT_USG.rawValue)))
  }
}

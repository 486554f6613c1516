internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Copies between this vault and another Secret Service, as `vault import` and `vault export` make them.
enum KeyringCopy {
  static let exportWords = "export --to secret-service"

  /// Copies everything that the present Secret Service keeps into the vault.
  ///
  /// - Throws: ``Failure`` also if a collection could not be read. An item that cannot be kept here, as one that is
  ///   too large, is named, and stays where it is.
  static func take(_ session: Session) throws(Failure) -> TransferAccount {
    _ = try session.unlocking(for: "vault secret-service enable") { vault in
      try vault.importCollection(nil, label: "", isDefault: false, trial: true)
    }
    let work = KeyringImport(session, try OtherKeyring(nil, besides: session))
    try work.find()
    return try checked(try work.run(isTrial: false))
  }

  /// Copies what programs have stored in the vault to the Secret Service that the bus knows now, or starts.
  static func give(_ session: Session) throws(Failure) -> TransferAccount {
    try session.unlockIfLocked()
    let source = try KeyringSource(session)
    return try checked(try KeyringExport(session, try OtherKeyring(nil, besides: session), source).run())
  }

  private static func checked(_ account: TransferAccount) throws(Failure) -> TransferAccount {
    guard account.problems.isEmpty else { throw Failure(.retry, account.problems.joined(separator: "; ")) }
    return account
  }
}

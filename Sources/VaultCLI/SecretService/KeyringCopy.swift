internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Copies between this vault and another Secret Service, as `vault import` and `vault export` make them.
enum KeyringCopy {
  static let exportWords = "export --to secret-service"

  /// Copies everything that another Secret Service keeps into the vault. The account lists what was not copied.
  ///
  /// - Parameter name: its name on the bus.
  /// - Returns: nil if the bus works, but no program has that name and the bus would start none.
  static func take(_ session: Session, from name: String) throws(Failure) -> TransferAccount? {
    _ = try session.unlocking(for: "vault secret-service enable") { vault in
      try vault.importCollection(nil, label: "", isDefault: false, trial: true)
    }
    guard let keyring = try OtherKeyring(name, besides: session) else { return nil }
    let work = KeyringImport(session, keyring)
    try work.find()
    return try work.run(isTrial: false)
  }

  /// Copies what programs have stored in the vault to the Secret Service that the bus knows now, or starts.
  static func give(_ session: Session, to name: String) throws(Failure) -> TransferAccount {
    try session.unlockIfLocked()
    let source = try KeyringSource(session)
    return try KeyringExport(session, try OtherKeyring.found(name, besides: session), source).run()
  }
}

/// The account under which the machine's vault runs.
///
/// Anyone who has this account owns that vault, and may have any user's password tested. So its name is one that no
/// other package gives to an account, and its home must be the vault's: systemd-sysusers(8) takes an existing account
/// for the one that it should make, and the service manager passes on sockets and directories by the name alone.
public enum SystemAccount {
  /// The name, with the underscore that Debian's policy (9.2.1) requires for accounts of packages.
  /// HashiCorp's package uses `vault`.
  public static let name = "_vaultd"
  public static let home = "/var/lib/vault"
  /// The group whose members, besides root, administer that vault.
  public static let administrators = "vault-admin"

  /// True if the account with this entry in the name service is the vault's.
  public static func isOwn(name: String, home: String) -> Bool { name == Self.name && home == Self.home }
}

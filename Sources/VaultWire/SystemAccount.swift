/// The account that the machine's vault runs as.
///
/// Whoever owns it owns that vault, and may have any user's password tried. So its name is one that no other package gives to
/// an account, and its home has to be the vault's: systemd-sysusers(8) takes an account that is there already for the one it
/// is to make, and the service manager hands sockets and directories over by the name alone.
public enum SystemAccount {
  /// With the underscore that Debian's policy (9.2.1) has for accounts of packages. `vault` is what HashiCorp's uses.
  public static let name = "_vaultd"
  public static let home = "/var/lib/vault"
  /// The group whose members administer that vault, beside root.
  public static let administrators = "vault-admin"

  /// True when the account with this entry in the name service is the vault's.
  public static func isOwn(name: String, home: String) -> Bool { name == Self.name && home == Self.home }
}

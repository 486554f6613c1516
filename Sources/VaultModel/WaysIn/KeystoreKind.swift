/// The place where the presence key of a PAM slot is kept. PAM only says yes or no, so the key that opens the slot must
/// be kept somewhere. Each place has its cost, and the owner is told what it is.
public enum KeystoreKind: String, CaseIterable, Sendable {
  /// The key is sealed to this machine's TPM 2.0.
  case tpm2
  /// The key is in another keyring, reached over the Secret Service.
  case keyring
  /// The key is in a file beside the store.
  case file
  /// The key is in the daemon's own memory, from a password unlock on.
  case memory

  /// The cost of the choice in one line, shown when a slot is made and in vault-security(7).
  public var cost: String {
    switch self {
    case .tpm2:
      "the vault opens only on this machine, where root can open it without your presence; clearing the TPM voids the "
        + "slot"
    case .keyring:
      "whatever can read your other keyring while that is unlocked can open the vault without your presence"
    case .file: "whoever can read the daemon's files, or has the disk, can open the vault without your presence"
    case .memory:
      "root can take the key from the daemon's memory while the vault is locked; after a restart a password comes first"
    }
  }
}

/// The kind of secret that opens a slot. The numbers are part of the format.
///
/// All that sets the kinds apart is in their ``facts``; code that differs goes by ``Secret``. A new kind with one of
/// these secrets is a case here, its facts, and the decision which proof of presence it is.
public enum SlotKind: UInt8, Named, Sendable {
  /// An app password, through Argon2id.
  case password = 1
  /// A recovery code.
  case recovery = 2
  /// A random key, which a keystore releases after PAM has verified the presence of one of the users
  /// in the slot's terms.
  case pam = 3
  /// The login password, through Argon2id; `pam_vault.so` passes the password on at login.
  case login = 4

  /// The nature of a slot's secret, which decides how it is asked for, and which key is derived from it.
  public enum Secret: Sendable {
    /// A password that a person types; Argon2id makes guesses slow.
    case password
    /// A random code that is shown once; its checksum reveals a typing error.
    case code
    /// A random key in a keystore, for which a person only proves to be there.
    case presenceKey
  }

  /// The changes of slots to which a slot's secret gives a right.
  public enum Rights: Sendable {
    case everyChange
    /// The change of the secret itself, and a rekey.
    case ownChange
    /// A finger on a reader is not enough for a change.
    case noChange
  }

  /// The data in which the kinds differ.
  public struct Facts: Sendable {
    /// The name that people and programs write.
    public let name: String
    public let secret: Secret
    /// The secret in sentences and the log, as in "wrong vault password".
    public let secretName: String
    /// The words that ask for the secret.
    public let question: String
    /// The words with which the lock state describes an unlock with the secret.
    public let unlockedBy: String
    public let rights: Rights
    /// True if a slot of this kind opens the vault for as long as somebody has its secret. The other kinds may stop
    /// working: a login password can be changed without the vault, and a keystore may lose its key.
    public let isLasting: Bool
    /// True if a slot of this kind opens the vault on any machine; the others need their own machine.
    public let isPortable: Bool
    /// True if the secret belongs to the system, which sets its rules and changes it without the vault.
    public let isOfSystem: Bool
  }

  public var facts: Facts {
    switch self {
    case .password:
      Facts(
        name: "password", secret: .password, secretName: "vault password", question: "Vault password",
        unlockedBy: "password", rights: .everyChange, isLasting: true, isPortable: true, isOfSystem: false)
    case .recovery:
      Facts(
        name: "recovery", secret: .code, secretName: "recovery code", question: "Recovery code",
        unlockedBy: "recovery code", rights: .everyChange, isLasting: true, isPortable: true, isOfSystem: false)
    case .pam:
      Facts(
        name: "pam", secret: .presenceKey, secretName: "fingerprint or login password", question: "Login password",
        unlockedBy: "fingerprint or login password", rights: .noChange, isLasting: false, isPortable: false,
        isOfSystem: false)
    case .login:
      Facts(
        name: "login", secret: .password, secretName: "login password", question: "Login password",
        unlockedBy: "login password", rights: .ownChange, isLasting: false, isPortable: false, isOfSystem: true)
    }
  }

  /// The name that people and programs write.
  public var name: String { facts.name }
}

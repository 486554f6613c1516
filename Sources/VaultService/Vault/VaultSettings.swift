/// The settings for the behavior of the vault; the settings for the connections of the daemon are not among them.
package struct VaultSettings: Sendable, Equatable {
  /// The seconds without a person's request before the vault locks; nil for never.
  package var idle: Int64? = 5 * 60
  /// The seconds after an unlock before the vault locks in any case; nil for never.
  package var maximumAge: Int64? = 12 * 3600
  /// The seconds for which deleted items stay in the trash; nil if they are gone at once.
  package var trash: Int64? = 30 * 86_400
  /// The settings of the audit log.
  package var audit = AuditSettings()
  /// True when a lock also wipes the keys that open names and attributes.
  package var hideNames = false
  /// True when `after-first-unlock` keys stay in memory while the machine sleeps.
  package var keepAcrossSleep = false
  /// The place of the boot key; nil for the file `boot.key` beside the store.
  package var bootKey: BootKey?
  /// The PAM service that checks a person's presence.
  package var pamService = "vault"
  /// The PAM service that accepts only a finger.
  package var biometryService: String { pamService + "-biometry" }

  /// The settings of the keyring for programs of the desktop.
  package var keyring = KeyringSettings()

  package init() {}
}

/// The settings that decide how the vault behaves; how the daemon is reached is not among them.
package struct VaultSettings: Sendable, Equatable {
  /// Seconds without a person's request before the vault locks; nil for never.
  package var idle: Int64? = 5 * 60
  /// Seconds after an unlock before the vault locks in any case; nil for never.
  package var maximumAge: Int64? = 12 * 3600
  /// Seconds that what is deleted stays in the trash; nil when it is gone at once.
  package var trash: Int64? = 30 * 86_400
  /// What is recorded of what happens.
  package var audit = AuditSettings()
  /// True when a lock also wipes the keys that open names and attributes.
  package var hideNames = false
  /// True when `after-first-unlock` keys stay in memory while the machine sleeps.
  package var keepAcrossSleep = false
  /// The place where the boot key lies; nil for the file `boot.key` beside the store.
  package var bootKey: BootKey?
  /// The PAM service that says who is there; with `-biometry` after it, the one that a finger alone satisfies.
  package var pamService = "vault"
  /// The PAM service that asks for a finger alone.
  package var biometryService: String { pamService + "-biometry" }

  package init() {}
}

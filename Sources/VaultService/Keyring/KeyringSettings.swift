package import VaultModel

/// The settings of the keyring.
package struct KeyringSettings: Sendable, Equatable {
  /// The access class of new items.
  package var accessible = AccessClass.afterFirstUnlock
  /// The items of the vault that appear in the collection ``CollectionID/shared``.
  package var shares: [ItemPattern] = []
  /// The times after which prompts end.
  package var limits = PromptLimits()

  package init() {}
}

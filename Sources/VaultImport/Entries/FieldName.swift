internal import VaultModel
internal import VaultWire

/// The conclusions from the name of a field whose source does not say what its value is.
enum FieldName {
  /// The role of the value: a secret if the name sounds like one, otherwise a text.
  ///
  /// `vault` takes a text with such a name for a secret in any case. A reader needs the role only where its own
  /// decisions depend on it.
  static func role(_ name: String) -> ImportedField.Role { SecretName.sounds(name) ? .secret : .text }
}

internal import VaultModel
internal import VaultStore

/// A rekey that was given up. While it cannot be removed, only this process knows of that.
struct GivenUpRekey {
  /// The error because of which it can never be completed; nil if somebody has called it off.
  let reason: String?
  /// The time at which it was given up, in Unix seconds.
  let time: Int64

  /// The warning about it in the status.
  func warning(_ keychain: Keychain) -> VaultWarning {
    // A damaged rekey is not completed after a restart either.
    if reason == nil, keychain.canContinueRekey {
      return VaultWarning(
        .rekey, "a rekey is to be called off, and cannot be removed yet",
        "vaultd tries again by itself; if it ends before that, the next unlock continues the rekey", since: time)
    }
    return VaultWarning(
      .rekey, "a rekey was given up: \(reason ?? "it was called off")",
      "the vault keeps its key and its ways in; `vault rekey` starts it again", since: time)
  }
}

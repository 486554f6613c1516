public import VaultHelper
internal import VaultModel
internal import VaultWire

/// The program `vault-tpm2`: seals keys to this machine's TPM 2.0.
///
/// Anyone who may use the TPM on this machine can open a sealed key, until the TPM is cleared. The key is bound to no
/// state of the boot (no PCR policy), so that an update of the firmware or the kernel does not make it useless.
public enum TPM2 {
  /// The program itself. Its limit is 60 seconds, because a discrete TPM may take some seconds to make its storage key.
  public static let program = KeystoreProgram(name: "vault-tpm2", limit: 60) {
    request, key throws(KeystoreError) -> KeystoreReply in
    // The key is part of the sealed object. Once the daemon discards that object, nothing is left to remove.
    if request.operation == .remove { return .removed }
    if request.operation == .fetch { _ = try SealedKey(locator: request.locator) }
    let chip = try Chip(device: request.place.isEmpty ? "device:/dev/tpmrm0" : request.place)
    try chip.open()
    if request.operation == .store { return .stored(locator: try chip.seal(key).locator()) }
    return .fetched(key: try chip.unseal(try SealedKey(locator: request.locator)))
  }
}

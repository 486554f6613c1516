public import VaultHelper
internal import VaultModel
internal import VaultWire

/// The program `vault-tpm2`: seals keys to this machine's TPM 2.0.
///
/// A sealed key is opened by whoever may use the TPM, on this machine, until the TPM is cleared. It is bound to no state
/// of the boot (no PCR policy), so that an update of the firmware or the kernel voids nothing.
public enum TPM2 {
  /// A discrete TPM may take some seconds for its storage key.
  public static let program = KeystoreProgram(name: "vault-tpm2", limit: 60) {
    request, key throws(KeystoreError) -> KeystoreReply in
    // It is part of the sealed object, and with that gone nothing is left.
    if request.operation == .remove { return .removed }
    if request.operation == .fetch { _ = try SealedKey(locator: request.locator) }
    let chip = try Chip(device: request.place.isEmpty ? "device:/dev/tpmrm0" : request.place)
    try chip.open()
    if request.operation == .store { return .stored(locator: try chip.seal(key).locator()) }
    return .fetched(key: try chip.unseal(try SealedKey(locator: request.locator)))
  }
}

internal import CTPM2
internal import VaultModel
internal import VaultWire

/// A response code of the TPM or of libtss2, and its meaning for a key (TPM 2.0 Library, Part 2, 6.6).
struct ChipError {
  /// The step that failed.
  enum Step { case connect, storageKey, session, seal, load, unseal }

  let code: UInt32
  let step: Step
  let device: String

  var keystoreError: KeystoreError {
    guard let response else {
      return KeystoreError(.unavailable, "the TPM at \(device) cannot be reached (\(number))")
    }
    switch (step, response) {
    // Warnings, which say nothing about the key.
    case (_, 0x921):
      return KeystoreError(.unavailable, "the TPM is locked out after too many failures; it opens again by itself")
    case (_, 0x902), (_, 0x903), (_, 0x904), (_, 0x908), (_, 0x922):
      return KeystoreError(.unavailable, "the TPM is busy (\(number))")
    case (_, 0x100): return KeystoreError(.unavailable, "the TPM was not started")
    case (.storageKey, 0x8E), (.storageKey, 0xA2):
      return KeystoreError(.refused, "the TPM's owner hierarchy has a password, which the vault does not know")
    case (.storageKey, 0x85): return KeystoreError(.refused, "the TPM's owner hierarchy is switched off")
    // A failed integrity check, and every other error that a TPM can report about a parameter that only this program
    // wrote.
    case (.load, 0x80..<0xC0), (.unseal, 0x80..<0xC0):
      return KeystoreError(
        .damaged, "the key was sealed by another TPM, or the TPM was cleared, or the sealed key was changed")
    default: return KeystoreError(.unavailable, "the TPM refuses (\(number))")
    }
  }

  /// The TPM's own code, without the number of the parameter, handle or session that it refers to; nil when the code is
  /// libtss2's.
  private var response: UInt32? {
    // The layers of the TPM itself and of resource managers that pass the TPM's codes on (TSS 2.0 Overview, TSS2_RC).
    guard [0, 11, 12].contains(code >> 16 & 0xFF) else { return nil }
    let base = code & 0xFFFF
    return base & 0x80 != 0 ? base & 0xBF : base & 0x97F
  }

  private var number: String { "0x" + String(code, radix: 16) }
}

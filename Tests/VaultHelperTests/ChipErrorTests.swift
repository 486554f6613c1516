import Testing
import VaultModel
import VaultWire

@testable import VaultTPM2

@Suite("What a TPM's codes mean for a key") struct ChipErrorTests {
  private func error(_ code: UInt32, _ step: ChipError.Step) -> KeystoreError {
    ChipError(code: code, step: step, device: "device:/dev/tpmrm0").keystoreError
  }

  /// An error code carries the number of the parameter or session that it concerns (TPM 2.0 Library, Part 2, 6.6.3).
  @Test(
    "they mean the same where a resource manager passes them on",
    arguments: [
      (0x1DF, ChipError.Step.load, KeystoreError.Code.damaged, "another TPM"),
      (0x1CB, .load, .damaged, "another TPM"), (0x9A2, .unseal, .damaged, "another TPM"),
      (0x9A2, .storageKey, .refused, "has a password"), (0x98E, .storageKey, .refused, "has a password"),
      (0x185, .storageKey, .refused, "switched off"), (0x921, .unseal, .unavailable, "locked out"),
      (0x922, .load, .unavailable, "busy"), (0x100, .storageKey, .unavailable, "was not started"),
      (0x1DF, .seal, .unavailable, "refuses"),
    ] as [(UInt32, ChipError.Step, KeystoreError.Code, String)],
    [0, 11, 12] as [UInt32])
  func layers(of meaning: (UInt32, ChipError.Step, KeystoreError.Code, String), layer: UInt32) {
    let (code, step, expected, words) = meaning
    let error = error(layer << 16 | code, step)
    #expect(error.code == expected && error.reason.contains(words), "\(error)")
  }

  @Test("those of the libraries on the way say nothing about the key", arguments: [6, 7, 8, 9, 10] as [UInt32])
  func libraries(layer: UInt32) {
    for step in [ChipError.Step.connect, .load, .unseal] {
      let error = error(layer << 16 | 0x9F, step)
      #expect(error.code == .unavailable && error.reason.contains("/dev/tpmrm0 cannot be reached"), "\(error)")
    }
  }
}

internal import CTPM2
internal import VaultModel
internal import VaultWire

/// The two halves of a sealed object as the TPM gave them. Neither is secret, and neither opens on another TPM.
struct SealedKey {
  var publicPart: TPM2B_PUBLIC
  var privatePart: TPM2B_PRIVATE

  init(publicPart: TPM2B_PUBLIC, privatePart: TPM2B_PRIVATE) {
    self.publicPart = publicPart
    self.privatePart = privatePart
  }

  /// Reads a locator that ``locator()`` wrote; every byte of it must be used.
  init(locator: [UInt8]) throws(KeystoreError) {
    publicPart = TPM2B_PUBLIC()
    privatePart = TPM2B_PRIVATE()
    var offset = 0
    guard unsafe Tss2_MU_TPM2B_PUBLIC_Unmarshal(locator, locator.count, &offset, &publicPart) == 0,
      unsafe Tss2_MU_TPM2B_PRIVATE_Unmarshal(locator, locator.count, &offset, &privatePart) == 0,
      offset == locator.count, publicPart.size > 0, privatePart.size > 0,
      // libtss2 reads past a wrong size, so a locator is accepted only if encoding it again gives the same bytes.
      try self.locator() == locator
    else { throw KeystoreError(.damaged, "the sealed key was cut short or changed") }
  }

  /// The TPM's own encoding (TPM 2.0 Library, Part 2) of a TPM2B_PUBLIC followed by a TPM2B_PRIVATE.
  func locator() throws(KeystoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: KeystoreRequest.locatorLimit)
    let size = bytes.count
    var offset = 0
    var (publicPart, privatePart) = (publicPart, privatePart)
    guard unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(&publicPart, &bytes, size, &offset) == 0,
      unsafe Tss2_MU_TPM2B_PRIVATE_Marshal(&privatePart, &bytes, size, &offset) == 0
    else { throw KeystoreError(.unavailable, "the TPM gave a sealed key that is too large") }
    return Array(bytes[..<offset])
  }
}

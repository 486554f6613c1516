package import VaultModel
internal import VaultSigning

extension Items {
  /// The type of an item's key, such as `p256`, if its public half was stored with it. Only the first bytes are read.
  package static func keyType(of item: ItemInfo) -> String? {
    guard let blob = item.publicKey else { return nil }
    // Bytes have no padding.
    return PublicKey.type(ofSSHBlob: unsafe blob.span.bytes)?.rawValue
  }

  /// The size of an item's RSA key in bits, if its public half was stored with it.
  package static func rsaBits(of item: ItemInfo) -> Int? {
    // Bytes have no padding.
    item.publicKey.flatMap { PublicKey.rsaBits(ofSSHBlob: unsafe $0.span.bytes) }
  }
}

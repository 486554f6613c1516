package import VaultModel
internal import VaultSigning

extension Items {
  /// The type of an item's key, such as `p256`, where its public half was stored with it. It costs a look at its first bytes.
  package static func keyType(of item: ItemInfo) -> String? {
    guard let blob = item.publicKey else { return nil }
    // Bytes have no padding.
    return PublicKey.type(ofSSHBlob: unsafe blob.span.bytes)?.rawValue
  }
}

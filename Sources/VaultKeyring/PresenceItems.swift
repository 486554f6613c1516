internal import CSecret
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The presence keys of one vault among the items of a Secret Service.
///
/// A key is kept as base64 text, because some keyrings treat every secret as text.
struct PresenceItems: ~Copyable {
  private let provider: Provider
  private let vault: String

  init(provider: consuming Provider, vault: String) {
    self.provider = provider
    self.vault = vault
  }

  /// Stores a key in the default collection and returns the key's id.
  func store(_ key: borrowing SecretBuffer) throws(KeystoreError) -> String {
    var error: UnsafeMutablePointer<GError>?
    guard
      let collection = unsafe secret_collection_for_alias_sync(
        provider.service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, nil, &error)
    else {
      let reason = unsafe error == nil ? "it has no default collection" : takeMessage(&error)
      throw KeystoreError(.unavailable, "the keyring cannot take a key: \(reason)")
    }
    defer { unsafe g_object_unref(collection) }
    guard unsafe secret_collection_get_locked(collection) == 0 else { throw Self.locked }
    let id = try Keyring.newID()
    let attributes = unsafe vault_presence_attributes(vault, id)
    defer { unsafe g_hash_table_unref(attributes) }
    let value = unsafe Self.value(key)
    defer { unsafe vault_value_unref(value) }
    guard
      let item = unsafe secret_item_create_sync(
        collection, vault_presence_schema(), attributes, "vault presence key", value, SECRET_ITEM_CREATE_NONE, nil,
        &error)
    else { throw KeystoreError(.unavailable, "the keyring did not take the key: \(unsafe takeMessage(&error))") }
    unsafe g_object_unref(item)
    return id
  }

  /// Returns the key with this id.
  func fetch(_ id: String) throws(KeystoreError) -> SecretBuffer {
    var found: SecretBuffer?
    try unsafe forEach(id) { item throws(KeystoreError) in
      var error: UnsafeMutablePointer<GError>?
      guard unsafe secret_item_load_secret_sync(item, nil, &error) != 0, let value = unsafe secret_item_get_secret(item)
      else { throw KeystoreError(.unavailable, "the keyring does not give the key: \(unsafe takeMessage(&error))") }
      defer { unsafe vault_value_unref(value) }
      found = unsafe Self.key(value)
      guard found != nil else { throw KeystoreError(.damaged, "the keyring's item is not the key that was put there") }
    }
    guard let found else { throw KeystoreError(.notFound, "the keyring has no such key") }
    return found
  }

  /// Removes the key with this id; does nothing when there is none.
  func remove(_ id: String) throws(KeystoreError) {
    try unsafe forEach(id) { item throws(KeystoreError) in
      var error: UnsafeMutablePointer<GError>?
      guard unsafe secret_item_delete_sync(item, nil, &error) != 0 else {
        throw KeystoreError(.unavailable, "the keyring does not remove the key: \(unsafe takeMessage(&error))")
      }
    }
  }

  private static let locked = KeystoreError(.unavailable, "the keyring is locked")

  /// Runs `body` for each item with this id. There is one, unless somebody copied it.
  private func forEach(
    _ id: String, _ body: (UnsafeMutablePointer<SecretItem>) throws(KeystoreError) -> Void
  ) throws(KeystoreError) {
    var error: UnsafeMutablePointer<GError>?
    let attributes = unsafe vault_presence_attributes(vault, id)
    defer { unsafe g_hash_table_unref(attributes) }
    // SECRET_SEARCH_UNLOCK is left out because it would prompt.
    let list = unsafe secret_service_search_sync(
      provider.service, vault_presence_schema(), attributes, SECRET_SEARCH_ALL, nil, &error)
    if unsafe error != nil {
      throw KeystoreError(.unavailable, "the keyring cannot be searched: \(unsafe takeMessage(&error))")
    }
    defer { unsafe g_list_free_full(list) { unsafe g_object_unref($0) } }
    var next = unsafe list
    while let entry = unsafe next {
      guard let item = unsafe vault_item_at(entry) else { break }
      guard unsafe secret_item_get_locked(item) == 0 else { throw Self.locked }
      try unsafe body(item)
      unsafe next = entry.pointee.next
    }
  }

  /// Makes a libsecret value from a key. libsecret keeps its copy in memory that it wipes.
  private static func value(_ key: borrowing SecretBuffer) -> OpaquePointer? {
    var text = SecretBuffer()
    text.append(count: Base64.encodedCount(key.count)) { out in key.withBytes { Base64.encode($0, into: &out) } }
    return unsafe text.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        // The text has no NUL and its length is given; `UInt8` and `CChar` have the same layout.
        unsafe secret_value_new(
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self), gssize(bytes.count), "text/plain")
      }
    }
  }

  private static func key(_ value: OpaquePointer) -> SecretBuffer? {
    var count: gsize = 0
    guard let start = unsafe secret_value_get(value, &count) else { return nil }
    // The bytes are valid for as long as the caller holds the value.
    let text = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: Int(count)))
    guard Base64.decodedCount(text) == KeystoreRequest.keyCount else { return nil }
    var key = SecretBuffer(capacity: KeystoreRequest.keyCount)
    let isValid = key.append(count: KeystoreRequest.keyCount) { Base64.decode(text, into: &$0) }
    if isValid { return key }
    return nil
  }
}

internal import CSecret
internal import VaultModel
internal import VaultWire

/// The properties of an object of another keyring, as it has told them. A property that is missing, or has another
/// type, has no value.
@safe struct PropertyTable: ~Copyable {
  private let table: OpaquePointer

  /// - Parameter table: a GVariant of the type `a{sv}`, which this owns from now on.
  init(_ table: OpaquePointer) { unsafe self.table = table }

  deinit { unsafe g_variant_unref(table) }

  func text(_ name: String) -> String? {
    unsafe with(name, "s") { unsafe g_variant_get_string($0, nil).map { unsafe String(cString: $0) } } ?? nil
  }

  func flag(_ name: String) -> Bool? { unsafe with(name, "b") { unsafe g_variant_get_boolean($0) != 0 } }

  /// A time in Unix seconds; 0 if there is none, or none that a vault can keep.
  func time(_ name: String) -> Int64 {
    let time = unsafe with(name, "t") { unsafe g_variant_get_uint64($0) } ?? 0
    guard let time = Int64(exactly: time), KeyringFacts.times.contains(time) else { return 0 }
    return time
  }

  func paths(_ name: String) -> [String] { unsafe with(name, "ao") { unsafe Self.paths($0) } ?? [] }

  static func paths(_ array: OpaquePointer) -> [String] {
    unsafe (0..<g_variant_n_children(array)).compactMap { index in
      let child = unsafe g_variant_get_child_value(array, index)
      defer { unsafe g_variant_unref(child) }
      let path = unsafe g_variant_get_string(child, nil).map { unsafe String(cString: $0) }
      return path.flatMap { $0.utf8.count <= ProviderReply.longestPath ? $0 : nil }
    }
  }

  func pairs(_ name: String) -> [Wire.KeyringAttribute] {
    let list = unsafe with(name, "a{ss}") { table in
      unsafe (0..<g_variant_n_children(table)).compactMap { index -> Wire.KeyringAttribute? in
        let entry = unsafe g_variant_get_child_value(table, index)
        defer { unsafe g_variant_unref(entry) }
        guard let key = unsafe Self.text(entry, 0), let value = unsafe Self.text(entry, 1) else { return nil }
        return Wire.KeyringAttribute(key: key, value: value)
      }
    }
    return list ?? []
  }

  private static func text(_ entry: OpaquePointer?, _ index: gsize) -> String? {
    let child = unsafe g_variant_get_child_value(entry, index)
    defer { unsafe g_variant_unref(child) }
    return unsafe g_variant_get_string(child, nil).map { unsafe String(cString: $0) }
  }

  private func with<R>(_ name: String, _ type: String, _ body: (OpaquePointer) -> R) -> R? {
    guard let value = unsafe vault_property(table, name, type) else { return nil }
    defer { unsafe g_variant_unref(value) }
    return unsafe body(value)
  }
}

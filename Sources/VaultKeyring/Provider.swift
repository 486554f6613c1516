internal import CSecret
internal import Glibc
internal import VaultModel
internal import VaultWire

/// A Secret Service on the session bus that was checked not to be this vault.
@safe struct Provider: ~Copyable {
  let service: UnsafeMutablePointer<SecretService>
  let bus: OpaquePointer
  /// The unique name of the service.
  let owner: String

  /// Finds the owner of a bus name. If there is none, the bus starts the service, if it can.
  ///
  /// From then on the service is addressed by its unique name, so that the service that was checked is the one that
  /// gets the key.
  ///
  /// - Parameter daemon: the process that must not be the service, because it is this vault.
  init(_ name: String, unlike daemon: pid_t) throws(KeystoreError) {
    var error: UnsafeMutablePointer<GError>?
    // Without either variable, GLib would start a bus of its own.
    guard unsafe getenv("DBUS_SESSION_BUS_ADDRESS") != nil || getenv("XDG_RUNTIME_DIR") != nil,
      let bus = unsafe g_bus_get_sync(G_BUS_TYPE_SESSION, nil, &error)
    else { throw KeystoreError(.unavailable, "there is no session bus: \(unsafe takeMessage(&error))") }
    // By default GLib would end this process when the bus goes away, and nobody would learn why.
    unsafe g_dbus_connection_set_exit_on_close(bus, 0)
    let owner = try unsafe Self.owner(of: name, bus)
    let pid = try unsafe Self.process(of: owner, bus)
    guard pid != daemon else {
      throw KeystoreError(.refused, "the keyring at \(name) is this vault itself; name another with keyring-bus-name")
    }
    guard let service = unsafe vault_open_service(owner, &error) else {
      throw KeystoreError(.unavailable, "the keyring at \(name) does not answer: \(unsafe takeMessage(&error))")
    }
    unsafe (self.service, self.bus, self.owner) = (service, bus, owner)
  }

  deinit { unsafe g_object_unref(service) }

  private static func owner(of name: String, _ bus: OpaquePointer) throws(KeystoreError) -> String {
    if let owner = unsafe text(bus, "GetNameOwner", vault_bus_name(name)) { return owner }
    var error: UnsafeMutablePointer<GError>?
    guard let started = unsafe vault_bus_call(bus, "StartServiceByName", vault_bus_start(name), &error) else {
      throw KeystoreError(
        .unavailable, "no keyring answers at \(name) on the session bus: \(unsafe takeMessage(&error))")
    }
    unsafe g_variant_unref(started)
    guard let owner = unsafe text(bus, "GetNameOwner", vault_bus_name(name)) else {
      throw KeystoreError(.unavailable, "no keyring answers at \(name) on the session bus")
    }
    return owner
  }

  /// True if the session bus answers that no program owns `name`, and that it can start none for the name.
  static func isAbsent(_ name: String) -> Bool {
    guard unsafe getenv("DBUS_SESSION_BUS_ADDRESS") != nil || getenv("XDG_RUNTIME_DIR") != nil,
      let bus = unsafe g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
    else { return false }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(bus)) }
    guard let hasOwner = unsafe vault_bus_call(bus, "NameHasOwner", vault_bus_name(name), nil) else { return false }
    defer { unsafe g_variant_unref(hasOwner) }
    guard unsafe g_variant_get_boolean(hasOwner) == 0,
      let names = unsafe vault_bus_call(bus, "ListActivatableNames", nil, nil)
    else { return false }
    defer { unsafe g_variant_unref(names) }
    return unsafe (0..<g_variant_n_children(names)).allSatisfy { index in
      let child = unsafe g_variant_get_child_value(names, index)
      defer { unsafe g_variant_unref(child) }
      return unsafe g_variant_get_string(child, nil).map { unsafe String(cString: $0) } != name
    }
  }

  private static func text(_ bus: OpaquePointer, _ method: String, _ parameters: OpaquePointer?) -> String? {
    var error: UnsafeMutablePointer<GError>?
    guard let value = unsafe vault_bus_call(bus, method, parameters, &error) else {
      unsafe g_clear_error(&error)
      return nil
    }
    defer { unsafe g_variant_unref(value) }
    return unsafe g_variant_get_string(value, nil).map { unsafe String(cString: $0) }
  }

  private static func process(of owner: String, _ bus: OpaquePointer) throws(KeystoreError) -> pid_t {
    var error: UnsafeMutablePointer<GError>?
    guard let value = unsafe vault_bus_call(bus, "GetConnectionUnixProcessID", vault_bus_name(owner), &error) else {
      throw KeystoreError(.unavailable, "the bus does not say who the keyring is: \(unsafe takeMessage(&error))")
    }
    defer { unsafe g_variant_unref(value) }
    return pid_t(bitPattern: unsafe g_variant_get_uint32(value))
  }
}

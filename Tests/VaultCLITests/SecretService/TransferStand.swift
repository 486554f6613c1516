import Foundation
import Testing
import VaultTesting

/// A vault, and GNOME Keyring on the session bus beside it.
final class TransferStand {
  let sandbox: Sandbox
  let bus: PrivateBus
  let keyring: OtherKeyring

  init() throws {
    sandbox = try Sandbox()
    do {
      bus = try PrivateBus(.session, in: sandbox)
      keyring = try OtherKeyring(in: sandbox, on: bus)
      try sandbox.configure("pam-service = vault-test-none\n")
      try sandbox.startDaemon(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
      try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    } catch {
      sandbox.close()
      throw error
    }
  }

  deinit { close() }

  func close() { sandbox.close() }

  /// Runs `vault`, which finds the keyring.
  func run(_ arguments: String..., on bus: PrivateBus? = nil) throws -> Outcome {
    try sandbox.run(arguments, environment: ["DBUS_SESSION_BUS_ADDRESS": (bus ?? self.bus).address], seconds: 120)
  }

  /// The numbers of what an import or an export said.
  struct Said {
    private let object: [String: Any]

    fileprivate init(_ outcome: Outcome) throws {
      object = try #require(JSONSerialization.jsonObject(with: Data(outcome.stdout)) as? [String: Any], "\(outcome)")
    }

    subscript(_ key: String) -> Int? { object[key] as? Int }
  }

  func importAll(_ arguments: String..., status: Int32 = 0) throws -> Said {
    try said(["import", "--from", "secret-service", "--json"] + arguments, bus, status)
  }

  func exportAll(on bus: PrivateBus, status: Int32 = 0) throws -> Said {
    try said(["export", "--to", "secret-service", "--yes", "--json"], bus, status)
  }

  private func said(_ arguments: [String], _ bus: PrivateBus, _ status: Int32) throws -> Said {
    let outcome = try sandbox.run(arguments, environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address], seconds: 120)
    try #require(outcome.status == status, "\(outcome) \(outcome.output)")
    return try Said(outcome)
  }

  /// Runs a program in Python that calls a keyring, with functions to make and list items, and returns what it prints.
  @discardableResult
  func python(_ script: String, on bus: PrivateBus? = nil) throws -> String {
    let outcome = try sandbox.run(
      ["-B", "-c", Self.functions + script], program: "/usr/bin/python3",
      environment: ["DBUS_SESSION_BUS_ADDRESS": (bus ?? self.bus).address], seconds: 120)
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  /// The items of all collections but the session's: collection, label, attributes and secret, without the schema that
  /// GNOME Keyring adds.
  func items(on bus: PrivateBus? = nil) throws -> [String] {
    try python("dump()", on: bus).split(separator: "\n").map(String.init)
  }

  /// The functions of ``python(_:on:)``.
  static let functions = #"""
    import dbus, hashlib
    bus = dbus.SessionBus()
    NAME, ROOT, P = 'org.freedesktop.secrets', '/org/freedesktop/secrets', 'org.freedesktop.DBus.Properties'
    S = 'org.freedesktop.Secret.'
    root = bus.get_object(NAME, ROOT)
    service = dbus.Interface(root, S + 'Service')
    guilt = dbus.Interface(root, 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface')
    session = service.OpenSession('plain', dbus.String('', variant_level=1))[1]
    login = ROOT + '/collection/login'
    def secret(value, kind='text/plain'):
      return dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(value), kind), signature='oayays')
    def collection(label):
      properties = {S + 'Collection.Label': dbus.String(label, variant_level=1)}
      return guilt.CreateWithMasterPassword(properties, secret(b'pw'))
    def open_up(path): guilt.UnlockWithMasterPassword(path, secret(b'pw'))
    def item(collection, label, attributes, value, kind='text/plain'):
      attributes = dbus.Dictionary(attributes, signature='ss', variant_level=1)
      properties = {S + 'Item.Label': dbus.String(label, variant_level=1), S + 'Item.Attributes': attributes}
      owner = dbus.Interface(bus.get_object(NAME, collection), S + 'Collection')
      return owner.CreateItem(properties, secret(value, kind), False, timeout=60)[0]
    def get(path, interface, name): return bus.get_object(NAME, path).Get(S + interface, name, dbus_interface=P)
    def dump():
      lines = []
      for path in get(ROOT, 'Service', 'Collections'):
        if path.endswith('/session'): continue
        for one in get(path, 'Collection', 'Items'):
          made = dbus.Interface(bus.get_object(NAME, one), S + 'Item')
          value = bytes(bytearray(made.GetSecret(session, timeout=60)[2]))
          pairs = [(str(k), str(v)) for k, v in get(one, 'Item', 'Attributes').items()]
          pairs = sorted(p for p in pairs if p != ('xdg:schema', 'org.freedesktop.Secret.Generic'))
          text = hashlib.sha256(repr((pairs, value)).encode()).hexdigest()
          lines.append(repr((str(get(path, 'Collection', 'Label')), str(get(one, 'Item', 'Label')), text)))
      print('\n'.join(sorted(lines)))

    """#
}

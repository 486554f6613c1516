/// The calls of org.freedesktop.DBus.Properties for served objects (D-Bus specification, "Standard Interfaces").
enum BusProperties {
  static let interface = "org.freedesktop.DBus.Properties"

  /// A call whose caller must be known before the call is answered.
  struct Call {
    /// The types of the answer's values.
    let answer: String
    let work: BusPeers.Work
  }

  /// Reads a call; nil if there is no such method or property.
  static func call(
    _ member: String, _ message: BusMessage, _ path: String, _ interfaces: [BusInterface]
  ) throws(BusError) -> Call? {
    switch (member, message.signature) {
    case ("Get", "ss"):
      guard let (interface, property) = try property(message, interfaces) else { return nil }
      return Call(answer: "v") { request, peer throws(BusError) in
        guard property.isLoaded else {
          return request.reply { writer throws(BusError) in try property.write(of: path, for: peer, to: writer) }
        }
        interface.loaded(request, peer) { loaded in
          request.reply { writer throws(BusError) in
            try loaded.get().property(property.name)?.write(of: path, for: peer, to: writer)
          }
        }
      }
    case ("GetAll", "s"):
      let name = try message.string()
      // Without a name, all properties of the object are asked for.
      let asked = name.isEmpty ? interfaces : interfaces.filter { $0.name == name }
      if asked.isEmpty, name != Self.interface, name != BusIntrospection.interface { throw .unknownInterface(name) }
      return Call(answer: "a{sv}") { request, peer throws(BusError) in
        peer.keepsProperties = true
        load(asked, request, peer) { loaded in
          request.reply { writer throws(BusError) in
            let all = BusInterface(name, properties: try loaded.get().flatMap(\.properties))
            try all.write(of: path, for: peer, to: writer)
          }
        }
      }
    case ("Set", "ssv"):
      guard let (_, property) = try property(message, interfaces) else { return nil }
      guard let set = property.set else { throw .readOnly(property.name) }
      guard message.enterVariant(of: property.type) else { throw .expected(property.type, not: "another type") }
      return Call(answer: "", work: set)
    case ("Get", let types): throw .expected("ss", not: types)
    case ("GetAll", let types): throw .expected("s", not: types)
    case ("Set", let types): throw .expected("ssv", not: types)
    default: return nil
    }
  }

  /// Loads interfaces, one after the other.
  private static func load(
    _ interfaces: [BusInterface], _ request: BusRequest, _ peer: BusPeer,
    _ then: @escaping (Result<[BusInterface], BusError>) -> Void
  ) {
    guard let first = interfaces.first else { return then(.success([])) }
    first.loaded(request, peer) { loaded in
      switch loaded {
      case .failure(let error): then(.failure(error))
      case .success(let loaded):
        load(Array(interfaces.dropFirst()), request, peer) { rest in then(rest.map { [loaded] + $0 }) }
      }
    }
  }

  /// Reads the names of an interface and of its property, which begin the message; nil if there is no such property.
  private static func property(
    _ message: BusMessage, _ interfaces: [BusInterface]
  ) throws(BusError) -> (BusInterface, BusInterface.Property)? {
    let (name, member) = (try message.string(), try message.string())
    guard let interface = interfaces.first(where: { $0.name == name }), let property = interface.property(member) else {
      return nil
    }
    return (interface, property)
  }
}

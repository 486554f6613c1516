/// An interface of served objects: its methods, properties and signals (D-Bus specification, "Valid Object Paths" and
/// "Type System", for the notation of types).
struct BusInterface {
  /// The names of values, and their types.
  typealias Arguments = KeyValuePairs<String, String>

  struct Method {
    let name: String
    let takes: Arguments
    let gives: Arguments
    /// Answers a call, at once or later. An error that this throws is the answer.
    let answer: (BusRequest, BusPeer) throws(BusError) -> Void

    init(
      _ name: String, takes: Arguments = [:], gives: Arguments = [:],
      answer: @escaping (BusRequest, BusPeer) throws(BusError) -> Void
    ) {
      (self.name, self.takes, self.gives, self.answer) = (name, takes, gives, answer)
    }
  }

  struct Property {
    let name: String
    let type: String
    /// Writes the value of the property of the object with this path, as the peer sees it. An error that this throws
    /// is the answer, even to a call that asks for all properties.
    let get: (String, BusPeer, BusWriter) throws(BusError) -> Void
    /// Takes a new value, which is the next in the message; nil for a read-only property. The answer has no values.
    let set: ((BusRequest, BusPeer) throws(BusError) -> Void)?
    /// True if the property can be read only from the interface that ``BusInterface/load`` passes on.
    let isLoaded: Bool

    init(
      _ name: String, _ type: String, isLoaded: Bool = false,
      get: @escaping (String, BusPeer, BusWriter) throws(BusError) -> Void,
      set: ((BusRequest, BusPeer) throws(BusError) -> Void)? = nil
    ) {
      (self.name, self.type, self.isLoaded, self.get, self.set) = (name, type, isLoaded, get, set)
    }
  }

  /// A signal, as introspection describes it.
  struct Signal {
    let name: String
    let carries: Arguments

    init(_ name: String, carries: Arguments = [:]) { (self.name, self.carries) = (name, carries) }
  }

  let name: String
  let methods: [Method]
  let properties: [Property]
  let signals: [Signal]
  /// Collects what the properties of the called object need before they can be read, and passes on the interface with
  /// properties that can then be read; nil if the properties can be read at once.
  var load: ((BusRequest, BusPeer, @escaping (Result<BusInterface, BusError>) -> Void) -> Void)?

  init(_ name: String, methods: [Method] = [], properties: [Property] = [], signals: [Signal] = []) {
    (self.name, self.methods, self.properties, self.signals) = (name, methods, properties, signals)
  }

  /// Passes on the interface with properties that can be read at once.
  func loaded(_ request: BusRequest, _ peer: BusPeer, _ then: @escaping (Result<BusInterface, BusError>) -> Void) {
    if let load { load(request, peer, then) } else { then(.success(self)) }
  }

  /// The types of arguments, one after the other.
  static func signature(_ arguments: Arguments) -> String { arguments.map(\.value).joined() }

  func method(_ name: String) -> Method? { methods.first { $0.name == name } }

  func property(_ name: String) -> Property? { properties.first { $0.name == name } }

  /// Writes the named properties with their values, as a dictionary from names to variants; nil for all properties.
  func write(
    _ names: [String]? = nil, of path: String, for peer: BusPeer, to writer: BusWriter
  ) throws(BusError) {
    try writer.array(of: "{sv}") { () throws(BusError) in
      for property in properties where names?.contains(property.name) ?? true {
        try writer.entry(of: "sv") { () throws(BusError) in
          writer.string(property.name)
          try property.write(of: path, for: peer, to: writer)
        }
      }
    }
  }
}

extension BusInterface.Property {
  /// Writes the value as a variant.
  func write(of path: String, for peer: BusPeer, to writer: BusWriter) throws(BusError) {
    try writer.variant(of: type) { () throws(BusError) in try get(path, peer, writer) }
  }
}

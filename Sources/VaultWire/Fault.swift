public import VaultBytes

// The parts of errors that are not generated.

extension Fault {
  /// The full name of the error in a reply.
  public var fullName: String {
    switch self {
    case .service(let fault): fault.fullName
    case .unknown(let name): name
    default: shortName.map { "\(VaultInterface.name).\($0)" } ?? ""
    }
  }

  /// Reads the error `name` with its parameters; an unknown name gives ``unknown(_:)``.
  ///
  /// - Throws: ``ParameterError`` if the parameters of a known error do not fit its definition.
  public init(_ frame: borrowing Frame, error name: String, _ parameters: Frame.Node?) throws(ParameterError) {
    let dot = name.lastIndex(of: ".") ?? name.startIndex
    let shortName = name[dot...].dropFirst()
    switch name[..<dot] {
    case VaultInterface.name: self = try Fault(frame, shortName: shortName, parameters) ?? .unknown(name)
    case ServiceInterface.name:
      self = try ServiceFault(frame, shortName: shortName, parameters).map { .service($0) } ?? .unknown(name)
    default: self = .unknown(name)
    }
  }

  /// Writes the error as a whole message: an object with `error` and `parameters`.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("error", fullName)
    writer.key("parameters")
    writer.beginObject()
    if case .service(let fault) = self { fault.writeParameters(to: &writer) } else { writeParameters(to: &writer) }
    writer.endObject()
    writer.endObject()
  }

  /// The reply to a call of a method that ``MethodName`` does not have.
  public static func unknownMethod(_ name: String) -> Fault {
    // The name is searched by bytes, because it may be as long as a frame.
    let interface = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(name[..<$0]) } ?? ""
    return interface == VaultInterface.name || interface == ServiceInterface.name
      ? .service(.methodNotFound(method: name)) : .service(.interfaceNotFound(interface: interface))
  }
}

extension ServiceFault {
  /// The full name of the error in a reply.
  public var fullName: String { shortName.map { "\(ServiceInterface.name).\($0)" } ?? "" }
}

extension MethodName {
  /// The method that the string `node` names; nil if there is none, and then ``Fault/unknownMethod(_:)`` is the reply.
  public init?(_ frame: borrowing Frame, _ node: Frame.Node) {
    // Few names have the same length, so most of them are not compared.
    let count = frame.secretCount(node)
    for method in MethodName.allCases
    where method.fullName.utf8CodeUnitCount == count && frame.equals(node, method.fullName) {
      self = method
      return
    }
    return nil
  }
}

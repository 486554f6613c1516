/// The errors of org.varlink.service: the call itself was wrong.
public enum ServiceFault: Error, Hashable, Sendable {
  case interfaceNotFound(interface: String)
  case methodNotFound(method: String)
  case methodNotImplemented(method: String)
  /// A parameter is missing, unknown or of the wrong type.
  case invalidParameter(parameter: String)
  case permissionDenied
  /// The method must be called with `more`.
  case expectedMore

  /// The name as a reply carries it.
  public var fullName: String {
    switch self {
    case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
    case .methodNotFound: "org.varlink.service.MethodNotFound"
    case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
    case .invalidParameter: "org.varlink.service.InvalidParameter"
    case .permissionDenied: "org.varlink.service.PermissionDenied"
    case .expectedMore: "org.varlink.service.ExpectedMore"
    }
  }

  /// Reads the error `name` with its parameters; nil when it is not one of these.
  init?(_ frame: borrowing Frame, error name: String, _ parameters: Frame.Node?) throws(ParameterError) {
    var fields = try Fields(frame, parameters)
    switch name {
    case "org.varlink.service.InterfaceNotFound":
      self = .interfaceNotFound(interface: try fields.string(frame, "interface"))
    case "org.varlink.service.MethodNotFound":
      self = .methodNotFound(method: try fields.string(frame, "method"))
    case "org.varlink.service.MethodNotImplemented":
      self = .methodNotImplemented(method: try fields.string(frame, "method"))
    case "org.varlink.service.InvalidParameter":
      self = .invalidParameter(parameter: try fields.string(frame, "parameter"))
    case "org.varlink.service.PermissionDenied": self = .permissionDenied
    case "org.varlink.service.ExpectedMore": self = .expectedMore
    default: return nil
    }
    try fields.finish(frame)
  }

  func writeParameters(to writer: inout JSONWriter) {
    switch self {
    case .interfaceNotFound(let interface): writer.field("interface", interface)
    case .methodNotFound(let method), .methodNotImplemented(let method): writer.field("method", method)
    case .invalidParameter(let parameter): writer.field("parameter", parameter)
    case .permissionDenied, .expectedMore: break
    }
  }
}

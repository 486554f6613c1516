public import VaultBytes

/// The frame around a method call, as https://varlink.org/Service defines it.
public struct Call: Hashable, Sendable {
  /// The full name of the method, which ``MethodName/init(_:_:)`` reads.
  public let method: Frame.Node
  /// The parameters, an object; nil if left out.
  public let parameters: Frame.Node?
  /// True if the caller accepts a stream of replies.
  public let more: Bool
  /// True if the caller wants no reply at all.
  public let oneway: Bool
  /// True if the caller wants to speak another protocol afterwards.
  public let upgrade: Bool

  /// Reads the envelope of `frame`.
  ///
  /// - Throws: ``ParameterError`` for a field that is missing, of the wrong type, or unknown.
  public init(_ frame: borrowing Frame) throws(ParameterError) {
    var fields = try Fields(frame, frame.root)
    guard let method = try fields.secret(frame, "method") else { throw ParameterError("method") }
    self.method = method
    parameters = fields.node(frame, "parameters")
    if let parameters, frame.kind(parameters) != .object { throw ParameterError("parameters") }
    more = try fields.optionalBool(frame, "more") ?? false
    oneway = try fields.optionalBool(frame, "oneway") ?? false
    upgrade = try fields.optionalBool(frame, "upgrade") ?? false
    try fields.finish(frame)
  }
}

/// The frame around a reply or an error.
public struct Reply: Hashable, Sendable {
  /// The full name of the error; nil for an ordinary reply.
  public let error: String?
  /// The parameters, an object; nil if left out.
  public let parameters: Frame.Node?
  /// True if more replies follow.
  public let continues: Bool

  /// Reads the envelope of `frame`.
  ///
  /// - Throws: ``ParameterError`` for a field that is of the wrong type or unknown.
  public init(_ frame: borrowing Frame) throws(ParameterError) {
    var fields = try Fields(frame, frame.root)
    parameters = fields.node(frame, "parameters")
    if let parameters, frame.kind(parameters) != .object { throw ParameterError("parameters") }
    continues = try fields.optionalBool(frame, "continues") ?? false
    error = try fields.optionalString(frame, "error")
    try fields.finish(frame)
  }
}

extension JSONWriter {
  /// Writes a whole call with its NUL; `parameters` writes one object.
  public mutating func call(
    _ method: MethodName, more: Bool = false, upgrade: Bool = false, parameters: (inout JSONWriter) -> Void
  ) {
    beginObject()
    key("method")
    literal(method.fullName)
    if more { field("more", true) }
    if upgrade { field("upgrade", true) }
    key("parameters")
    parameters(&self)
    endObject()
    endMessage()
  }

  /// Writes a whole reply with its NUL; `parameters` writes one object.
  public mutating func reply(continues: Bool = false, parameters: (inout JSONWriter) -> Void) {
    beginObject()
    key("parameters")
    parameters(&self)
    if continues { field("continues", true) }
    endObject()
    endMessage()
  }

  /// Writes a whole reply with its NUL.
  public mutating func reply(_ value: some WireValue, continues: Bool = false) {
    reply(continues: continues) { value.write(to: &$0) }
  }

  /// Writes a whole error with its NUL.
  public mutating func reply(_ fault: Fault) {
    fault.write(to: &self)
    endMessage()
  }
}

public import VaultWire

extension Vault {
  /// Attends a person's session: passes inquiries and notices for the person to `each`, until `each` returns false.
  ///
  /// It blocks while nothing happens. Whenever no message has come for half of ``silence``, the daemon is asked for a
  /// sign of life.
  ///
  /// - Parameter faces: the faces with which the person is asked, in their order.
  /// - Throws: ``ClientError/disconnected`` when the daemon goes away, and ``ClientError/timedOut`` when it gives no
  ///   sign of life for ``silence``.
  public func attend(faces: [String], _ each: (Wire.AttendReply) throws -> Bool) throws {
    var replies = try stream(
      .attend, timeout: timeout, cancellation: cancellation, Wire.AttendParameters(faces: faces))
    while let response = try replies.next(timeout: nil) {
      guard try each(response.decode()) else { return }
    }
    throw ClientError.disconnected
  }

  /// Says yes to a confirmation: the key is used this once.
  public func confirm(_ inquiry: Int) throws(ClientError) {
    _ = try call(.confirm, again: false, Wire.ConfirmParameters(inquiry: inquiry)).decode(Wire.Empty.self)
  }

  /// Says that the person does not want to answer now or, with `unable`, that this agent cannot ask.
  public func dismiss(_ inquiry: Int, unable: Bool = false) throws(ClientError) {
    _ = try call(
      .dismiss, again: false, Wire.DismissParameters(inquiry: inquiry, unable: unable ? true : nil)
    ).decode(Wire.Empty.self)
  }
}

public import VaultWire

extension Vault {
  /// Attends a person's session: hands over what a person is wanted for, and what one should hear of, until `each` says false.
  ///
  /// It blocks for as long as nothing happens. Throws ``ClientError/disconnected`` when the daemon goes away, and
  /// ``ClientError/timedOut`` when it gives no sign of life for ``silence``: so often it is asked for one, twice.
  ///
  /// - Parameter faces: the ways in which the person is asked, in their order.
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

internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Requests, Approve, Deny and ForgetDenial.
extension VarlinkDoor {
  /// The number of requests in one reply.
  private static let requestsAtATime = 64

  func requests(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      let told = try access.toldRequests(for: connection.caller)
      let all =
        told.pending.map { Wire.Request($0.request, isMissing: $0.isMissing) }
        + told.approvals.map { Wire.Request($0.approval, until: $0.until) }
        + told.denials.map { Wire.Request($0.target, until: $0.until) }
      var left = all[...]
      while !left.isEmpty {
        connection.reply(Wire.RequestsReply(requests: Array(left.prefix(Self.requestsAtATime))), continues: true)
        left = left.dropFirst(Self.requestsAtATime)
      }
      connection.reply(Wire.RequestsReply(requests: []))
    }
  }

  func approve(_ call: Wire.ApproveParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let terms = try ApprovalTerms(
        uses: call.uses, seconds: call.for.map(Int64.init), isOfSession: call.session ?? false,
        isForGood: call.always ?? false)
      let process = try call.pid.map { (pid) throws(Refusal) in
        guard let number = Int32(exactly: pid) else { throw .invalid("pid") }
        return number
      }
      let request = try access.approve(
        QuestionNumber(call.number), terms, process: process, for: connection.caller)
      connection.reply(
        Wire.ApproveReply(
          subject: Self.named(request.target.subject), right: request.right.name, name: request.target.name.text))
    }
  }

  func deny(_ call: Wire.DenyParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let target = try access.deny(
        QuestionNumber(call.number), isForGood: call.always ?? false, for: connection.caller)
      connection.reply(Wire.DenyReply(subject: Self.named(target.subject), name: target.name.text))
    }
  }

  func forgetDenial(_ call: Wire.ForgetDenialParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let target = RequestTarget(
        try subject(call.subject, for: connection.caller), try Self.itemName(call.name))
      try access.forgetDenial(of: target, for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }
}

extension Wire.Request {
  fileprivate init(_ request: PendingRequest, isMissing: Bool) {
    self.init(
      number: request.number.value, state: "pending", subject: VarlinkDoor.named(request.target.subject),
      right: request.right.name, name: request.target.name.text, missing: isMissing ? true : nil,
      reason: request.words, count: request.count, first: request.first, last: request.last)
    tell(request.asker)
  }

  fileprivate init(_ approval: Approval, until: Int64?) {
    self.init(
      number: approval.number.value, state: "approved", subject: VarlinkDoor.named(approval.target.subject),
      right: approval.right.name, name: approval.target.name.text, uses: approval.uses, until: until,
      by: Int(approval.by))
    if let process = approval.process { tell(process) }
  }

  fileprivate init(_ target: RequestTarget, until: Int64?) {
    self.init(
      state: "denied", subject: VarlinkDoor.named(target.subject), name: target.name.text, until: until)
  }

  private mutating func tell(_ asker: Asker) {
    (uid, user, pid) = (Int(asker.uid), UserName.of(asker.uid), Int(asker.pid))
    (unit, executable) = (asker.unit, asker.executable)
  }
}

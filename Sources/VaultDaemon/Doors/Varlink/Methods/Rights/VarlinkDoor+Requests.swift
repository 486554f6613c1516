internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Requests, Approve, Deny, Refuse and ForgetDenial.
extension VarlinkDoor {
  /// The number of requests in one reply.
  private static let requestsAtATime = 64

  /// A request, an approval or a denial, as the service tells it.
  private enum Told {
    case pending(PendingRequest, isMissing: Bool)
    case approval(Approval, until: Int64?)
    case denial(RequestTarget, until: Int64?)

    func wire(_ names: AccountNames) -> Wire.Request {
      switch self {
      case .pending(let request, let isMissing): Wire.Request(request, isMissing: isMissing, names)
      case .approval(let approval, let until): Wire.Request(approval, until: until, names)
      case .denial(let target, let until): Wire.Request(target, until: until, names)
      }
    }
  }

  func requests(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      var prompts = vault.prompts.begun[...]
      // Programs wait in every state. Without a store, their prompts are all that there is to tell.
      do throws(Refusal) { try vault.checkStore() } catch { if prompts.isEmpty { throw error } }
      let told = try access.toldRequests(for: connection.caller)
      while !prompts.isEmpty {
        let some = prompts.prefix(Self.requestsAtATime).map { Wire.KeyringPrompt($0, names) }
        connection.reply(Wire.RequestsReply(requests: [], prompts: some), continues: true)
        prompts = prompts.dropFirst(Self.requestsAtATime)
      }
      let all =
        told.pending.map { Told.pending($0.request, isMissing: $0.isMissing) }
        + told.approvals.map { Told.approval($0.approval, until: $0.until) }
        + told.denials.map { Told.denial($0.target, until: $0.until) }
      tell(all[...], connection)
    }
  }

  /// Sends the next requests, lets other clients have their turn, and continues as the client reads.
  private func tell(_ all: ArraySlice<Told>, _ connection: VarlinkConnection) {
    var left = all
    let end = vault.clock.monotonic() + Turns.search
    repeat {
      guard !left.isEmpty else { return connection.reply(Wire.RequestsReply(requests: [])) }
      let page = left.prefix(Self.requestsAtATime).map { $0.wire(names) }
      connection.reply(Wire.RequestsReply(requests: page), continues: true)
      left = left.dropFirst(Self.requestsAtATime)
    } while vault.clock.monotonic() < end
    var isWanted = true
    connection.hold(withName: true) { isWanted = false }
    connection.whenKeepingUp { [weak self, weak connection] in
      if isWanted, let self, let connection { tell(left, connection) }
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
        return ShownProcess(number, started: try call.started.map(Self.startTime))
      }
      let request = try access.approve(
        QuestionNumber(call.number), terms, process: process, for: connection.caller)
      connection.reply(
        Wire.ApproveReply(
          subject: Self.named(request.target.subject, names), right: request.right.name,
          name: request.target.name.text))
    }
  }

  private static func startTime(_ ticks: Int) throws(Refusal) -> UInt64 {
    guard let started = UInt64(exactly: ticks) else { throw .invalid("started") }
    return started
  }

  func deny(_ call: Wire.DenyParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let target = try access.deny(
        QuestionNumber(call.number), isForGood: call.always ?? false, for: connection.caller)
      connection.reply(Wire.DenyReply(subject: Self.named(target.subject, names), name: target.name.text))
    }
  }

  func refuse(_ call: Wire.RefuseParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answer(connection) { () throws(Refusal) in
      let told = vault.prompts.begun.first { $0.number.value == call.number }.map { Wire.KeyringPrompt($0, names) }
      let refused = try vault.prompts.refuse(QuestionNumber(call.number), for: connection.caller, access)
      connection.reply(Wire.RefuseReply(prompt: told ?? Wire.KeyringPrompt(refused, names)))
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

extension Wire.KeyringPrompt {
  fileprivate init(_ prompt: KeyringPrompt, _ names: AccountNames) {
    let asker = prompt.asker
    self.init(
      number: prompt.number.value, task: prompt.kind.rawValue, waitsFor: prompt.awaited, since: prompt.since,
      uid: Int(asker.uid), user: names.user(asker.uid), pid: Int(asker.pid), unit: asker.unit,
      executable: asker.executable, app: prompt.app)
  }
}

extension Wire.Request {
  fileprivate init(_ request: PendingRequest, isMissing: Bool, _ names: AccountNames) {
    self.init(
      number: request.number.value, state: "pending", subject: VarlinkDoor.named(request.target.subject, names),
      right: request.right.name, name: request.target.name.text, missing: isMissing ? true : nil,
      reason: request.words, count: request.count, first: request.first, last: request.last)
    tell(request.asker, names)
  }

  init(_ approval: Approval, until: Int64?, _ names: AccountNames) {
    self.init(
      number: approval.number.value, state: "approved", subject: VarlinkDoor.named(approval.target.subject, names),
      right: approval.right.name, name: approval.target.name.text, uses: approval.uses, until: until,
      by: Int(approval.by))
    if let process = approval.process { tell(process, names) }
  }

  fileprivate init(_ target: RequestTarget, until: Int64?, _ names: AccountNames) {
    self.init(
      state: "denied", subject: VarlinkDoor.named(target.subject, names), name: target.name.text, until: until)
  }

  private mutating func tell(_ asker: Asker, _ names: AccountNames) {
    (uid, user, pid) = (Int(asker.uid), names.user(asker.uid), Int(asker.pid))
    started = asker.started.flatMap(Int.init(exactly:))
    (unit, executable) = (asker.unit, asker.executable)
  }
}

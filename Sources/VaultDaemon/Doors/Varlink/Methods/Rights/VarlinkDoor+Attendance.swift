internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Attend, Confirm and Dismiss.
extension VarlinkDoor {
  func attend(_ call: Wire.AttendParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let agent = try attendance.attend(call.faces, for: connection.caller) { [weak connection] in
        connection?.fail($0)
      } send: { [weak self, weak connection] event in
        guard let self, let connection, !connection.isClosing else { return false }
        // An agent that does not read is cut off, as watchers are.
        guard connection.isKeepingUp else {
          connection.close()
          return false
        }
        connection.reply(Wire.AttendReply(event, at: vault.clock.wall(), names), continues: true)
        return !connection.isClosing
      }
      connection.hold(withName: false) { [attendance] in attendance.end(agent) }
      connection.current.attends = true
      attendance.begin(agent)
    }
  }

  func confirm(_ call: Wire.ConfirmParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      try attendance.confirm(QuestionNumber(call.inquiry), for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }

  func dismiss(_ call: Wire.DismissParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      try attendance.dismiss(
        QuestionNumber(call.inquiry), isUnable: call.unable ?? false, for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }
}

extension Wire.Agent {
  init(_ agent: Agent, _ names: AccountNames) {
    let process = agent.process
    self.init(
      number: agent.number, uid: Int(process.uid), user: names.user(process.uid), pid: Int(process.pid),
      unit: process.unit, faces: agent.faces, since: agent.since)
  }
}

extension Wire.Asker {
  fileprivate init(_ asker: Asker, _ names: AccountNames, _ words: String = "", task: String? = nil) {
    self.init(
      uid: Int(asker.uid), user: names.user(asker.uid), pid: Int(asker.pid),
      started: asker.started.flatMap(Int.init(exactly:)), unit: asker.unit,
      executable: asker.executable, terminal: asker.terminal, chain: asker.chain,
      reason: words.isEmpty ? nil : words, task: task)
  }
}

extension Wire.Inquiry {
  fileprivate init(_ told: ToldInquiry, _ names: AccountNames) {
    self.init(
      number: told.number.value, about: told.about,
      askers: told.askers.map { Wire.Asker($0.asker, names, $0.words, task: $0.task) },
      count: told.count, name: told.name, missing: told.isMissing ? true : nil,
      subject: told.subject.map { VarlinkDoor.named($0, names) }, right: told.right?.name, require: told.require?.name,
      reuse: told.reuse.map { Int(clamping: $0) }, idle: told.idle.map { Int(clamping: $0) },
      age: told.age.map { Int(clamping: $0) })
  }
}

extension Wire.AttendReply {
  fileprivate init(_ event: AttendanceEvent, at time: Int64, _ names: AccountNames) {
    switch event {
    case .attending(let number): self.init(event: "attending", time: time, agent: number)
    case .inquiry(let told): self.init(event: "inquiry", time: time, inquiry: Wire.Inquiry(told, names))
    case .withdrawn(let number, let why):
      self.init(event: "withdrawn", time: time, number: number.value, why: why.rawValue)
    case .notice(.locking(let reason, let at)):
      self.init(event: "notice", time: time, notice: "locking", cause: reason.rawValue, at: at)
    case .notice(.state(let state)):
      self.init(event: "notice", time: time, notice: state.kind.rawValue, cause: state.cause.text)
    case .notice(.failedUnlock(let asker)):
      self.init(event: "notice", time: time, notice: "failed-unlock", asker: Wire.Asker(asker, names))
    case .notice(.integrity(let reason)):
      self.init(event: "notice", time: time, notice: "integrity", cause: reason)
    }
  }
}

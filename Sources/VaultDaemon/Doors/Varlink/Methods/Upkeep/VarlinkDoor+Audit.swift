internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Audit.
extension VarlinkDoor {
  /// The time after which a reader for whom nothing was found gets a report of the progress, in nanoseconds.
  private static let silence: Int64 = 1_000_000_000
  /// The most entries that a call may ask for with `last`.
  private static let mostOfTheLast = 100_000

  func audit(_ call: Wire.AuditParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let noted = try call.check == true || call.noted != nil ? Self.noted(call.noted ?? []) : nil
      let reading = try access.readAudit(
        try filter(call, for: connection.caller), noted: noted, for: connection.caller)
      connection.hold(withName: true) { reading.end() }
      reading.isFollowing = call.follow ?? false
      tell(reading, isCheck: noted != nil, follows: call.follow ?? false, connection)
    }
  }

  /// Sends the next entries, lets other clients have their turn, and continues as the client reads.
  func tell(_ reading: AuditReading, isCheck: Bool, follows: Bool, _ connection: VarlinkConnection) {
    // A reading that has ended has sent its last reply already.
    guard !reading.hasEnded else { return }
    do throws(Refusal) { try tellNext(reading, isCheck: isCheck, follows: follows, connection) } catch {
      reading.end()
      connection.fail(error)
    }
  }

  private func tellNext(
    _ reading: AuditReading, isCheck: Bool, follows: Bool, _ connection: VarlinkConnection
  ) throws(Refusal) {
    let now = vault.clock.monotonic()
    let (names, end) = (AccountNames(), now + Turns.search)
    var isOver = false
    repeat {
      let found: [AuditReading.Found]
      (found, isOver) = try reading.page(until: end, now: vault.clock.monotonic)
      guard !found.isEmpty else { continue }
      reading.told = now
      guard !isCheck else { continue }
      let told = found.map { found in
        var told = Wire.AuditEntry(found, names)
        told.watches = watches(found.entry)
        return told
      }
      connection.reply(Wire.AuditReply(entries: told), continues: true)
    } while !isOver && vault.clock.monotonic() < end
    if !isOver, isCheck || now - reading.told >= Self.silence {
      reading.told = now
      let (done, all) = reading.progress
      let progress = Wire.Progress(done: Int(clamping: done), of: Int(clamping: all))
      connection.reply(Wire.AuditReply(entries: [], progress: progress), continues: true)
    }
    if isOver, !follows {
      reading.end()
      return connection.reply(last(of: reading, isCheck))
    }
    var isWanted = true
    connection.hold(withName: true) {
      isWanted = false
      reading.end()
    }
    func goOn() {
      connection.whenKeepingUp { [weak self, weak connection] in
        if isWanted, let self, let connection { tell(reading, isCheck: isCheck, follows: follows, connection) }
      }
    }
    if isOver { reading.follow(goOn) } else { goOn() }
  }

  /// True if the author of a receipt still watches; nil for entries other than receipts.
  private func watches(_ entry: AuditEntry) -> Bool? {
    guard entry.action == .receipt, let teller = entry.caller else { return nil }
    return events.isWatched { access.isProgram(of: teller, $0) }
  }

  private func last(of reading: AuditReading, _ isCheck: Bool) -> Wire.AuditReply {
    guard isCheck, let result = reading.result else {
      return Wire.AuditReply(
        entries: [], otherNames: reading.othersByName > 0 ? reading.othersByName : nil,
        gaps: reading.gaps.flatMap { Wire.AuditGaps($0) })
    }
    let faults = result.faults.map { fault in
      Wire.AuditFault(first: fault.first.map { Int($0) }, last: fault.last.map { Int($0) }, text: fault.text)
    }
    let hasNotes = result.compared + result.uncompared > 0
    return Wire.AuditReply(
      entries: [], faults: faults, total: Int(result.total), unvouched: Int(result.unvouched), cut: Int(result.cut),
      link: result.link, compared: hasNotes ? result.compared : nil,
      uncompared: hasNotes ? result.uncompared : nil)
  }

  private static func noted(_ marks: [Wire.AuditMark]) throws(Refusal) -> AuditNotes {
    var noted = AuditNotes()
    for mark in marks {
      guard let bytes = [UInt8](hex: mark.link), let digest = unsafe Digest(bytes.span.bytes), mark.entry >= 0 else {
        throw .invalid("noted")
      }
      noted.add(digest, for: Int64(mark.entry))
    }
    return noted
  }

  private func filter(
    _ call: Wire.AuditParameters, for caller: VaultService.Caller
  ) throws(Refusal) -> AuditFilter {
    var filter = AuditFilter()
    (filter.since, filter.until) = (call.since, call.until)
    if let name = call.door {
      // A door that does not exist would match nothing, and look like an answer.
      guard AuditDoor(rawValue: name) != nil else { throw .invalid("door") }
      filter.door = name
    }
    filter.isRefused = call.denied ?? false
    if let text = call.items {
      do throws(NameError) { filter.items = try ItemPattern(text) } catch {
        throw .invalidName(text, reason: error.reason)
      }
    }
    if let text = call.item {
      if call.items != nil { throw .invalid("item") }
      do throws(NameError) { filter.item = try ItemName(text) } catch {
        throw .invalidName(text, reason: error.reason)
      }
    }
    if let text = call.subject { filter.subject = try subject(text, for: caller, onlySelects: true) }
    if let name = call.action {
      guard let action = AuditAction(name: name) else { throw .invalid("action") }
      filter.action = action
    }
    if let last = call.last {
      guard (1...Self.mostOfTheLast).contains(last) else { throw .invalid("last") }
      filter.last = last
    }
    return filter
  }
}

extension Wire.AuditGaps {
  /// Nil if there are none.
  fileprivate init?(_ gaps: VaultService.AuditGaps) {
    guard !gaps.isEmpty else { return nil }
    let restores = gaps.restores.map { Wire.AuditRestore(since: $0.since, until: $0.until) }
    self.init(
      begin: gaps.begin, off: gaps.wereOff ? true : nil, lost: gaps.haveLost ? true : nil,
      restores: restores.isEmpty ? nil : restores)
  }
}

extension Wire.AuditEntry {
  fileprivate init(_ found: AuditReading.Found, _ names: AccountNames) {
    let entry = found.entry
    let caller = entry.caller
    self.init(
      number: Int(found.number), time: entry.time, action: entry.action.name, outcome: entry.outcome.name,
      door: caller?.door,
      uid: caller.map { Int($0.uid) }, user: caller.flatMap { names.user($0.uid) },
      pid: caller.flatMap { $0.pid > 0 ? Int($0.pid) : nil }, unit: caller?.unit, executable: caller?.executable,
      item: entry.item, detail: entry.detail, purpose: entry.purpose, count: entry.repeats.map { Int($0.count) },
      of: entry.repeats?.of.map { Int($0) }, now: found.now?.text, gone: found.isGone ? true : nil,
      byName: found.isByName ? true : nil)
  }
}

internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel

// The rendering of the template, and the write of the output.
extension Keeper {
  func attempt() {
    var request = request
    // Nobody is asked, and nobody waits.
    request.fetch.waitSeconds = 0
    do throws(Failure) { try write(render(request)) } catch { failed(error) }
  }

  func failed(_ failure: Failure) {
    let seconds = pause.failed()
    retry = Moment.now() + seconds * 1000
    report.problem(failure)
  }

  /// Schedules a new rendering at once.
  func isDueNow() {
    (isDue, retry) = (true, nil)
    pause.reset()
  }

  func render(_ request: InjectRequest) throws(Failure) -> Wanted {
    // The watch begins before anything is read, so that no change is missed.
    try files.begin()
    try request.check()
    let template = try request.template(isKept: true)
    if template.source.count == 0, mayNotBeEmpty {
      throw Failure(.retry, "\(Printable.text(request.input)) is empty")
    }
    named = template.actions.map(\.item.name)
    let rendering = try request.render(template, session)
    return Wanted(template, rendering)
  }

  /// True if an empty template means that a program is still writing it: the template before was not empty, or the
  /// output has or had content.
  private var mayNotBeEmpty: Bool {
    wanted.map { $0.template.source.count > 0 } ?? file.hasHeldText
  }

  func write(_ next: Wanted) throws(Failure) {
    var before = (wanted, base)
    // If the rendering is unchanged, no value and no template has changed, so another program's text stays.
    let isToWrite = foreign == nil || !(base?.gives(next) ?? false)
    // The check comes before the write, so that a later removal of the displaced file is noticed.
    hadAside = file.hasAside
    var outcome = isToWrite ? try put(next, overwrites: false) : nil
    if case .held(let present)? = outcome {
      wanted = next
      // The new values must not come into the template either.
      keepValues(of: next)
      // A text that a program is still writing cannot be adopted; the folder watch reports its end.
      if !present.hasWriter, lookAt(present) {
        // The template has changed, and the next attempt uses it.
        keepValues(of: before.0)
        return isDueNow()
      }
      // A look can find that the text is the keeper's own.
      if !present.hasWriter, isBase(present) {
        outcome = try put(next, overwrites: false)
      } else if ways.overwrites {
        outcome = try put(next, overwrites: true)
      }
    }
    keepValues(of: before.0)
    var last: Wanted?
    if case .written(let displaced?, _)? = outcome, displaced.isSudden { last = before.1 ?? before.0 }
    // The old values are wiped before the write is reported.
    before = (nil, nil)
    wanted = next
    session.startNone()
    if !(outcome?.isHeld ?? false) { base = next }
    (isDue, retry) = (false, nil)
    pause.reset()
    report.solved(isUnchanged: outcome?.isRight ?? false)
    switch outcome {
    case nil: stays(next)
    case .right?: noteKept(next, isWritten: false)
    case .written(let displaced, let old)?:
      noteKept(next, isWritten: true, displaced)
      if let old = displaced?.file.status ?? old { file.output.noteChange(from: old) }
      if let displaced, let last { adopt(displaced, last) }
    case .held(let present)?: hold(next, present)
    }
  }

  /// Handles a rendering that is the same as before another program wrote the file: that program's text stays.
  private func stays(_ next: Wanted) {
    isHeld = false
    guard let foreign else { return }
    sayLost(foreign.text.withBytes { Rewriting(of: next.rendering, next.template, as: $0) }, next, mayBeNew: true)
  }

  /// Writes the output. A changed mode alone is no reason to write it, even if the change is noticed only now.
  private func put(_ next: Wanted, overwrites: Bool) throws(Failure) -> KeptFile.Outcome {
    var mindsMode = true
    while true {
      let outcome = try signals.whole { () throws(Failure) in
        try file.write(next.rendering.bytes, isFirst: base == nil, overwrites: overwrites, mindsMode: mindsMode) {
          present in base.map { present.holds($0.rendering.bytes) } ?? false
        }
      }
      if let outcome { return outcome }
      mindsMode = file.present().map { lookAtMode(of: $0) } ?? true
    }
  }

  /// Handles an output that is as it should be.
  private func noteKept(_ next: Wanted, isWritten: Bool, _ displaced: KeptFile.Displaced? = nil) {
    (foreign, isHeld, hasLost) = (nil, false, false)
    if isWritten {
      modesRestored = 0
      report.wrote(next.rendering.versions)
    }
    if let displaced { report.displaced(to: file.asidePath, isSudden: displaced.isSudden) }
    command.notice = notice
    command.isWanted(after: isWritten || isOwed, next.versions)
    isOwed = false
  }

  /// Notes that no due version is missing from the file any more.
  ///
  /// - Parameter isNew: true if the file held something else when it was last right.
  func isNoLongerHeld(isNew: Bool = false) {
    (isHeld, hasLost) = (false, false)
    command.notice = notice
    if let wanted { command.isWanted(after: isNew || isOwed, wanted.versions) }
    isOwed = false
  }

  private func hold(_ next: Wanted, _ present: PresentFile) {
    if !isHeld { report.held(aside: file.hasAside ? file.asidePath : nil) }
    isHeld = true
    sayHeld(next, present)
  }

  /// Reports the values that a held file lacks, and the ones that stand in it.
  func sayHeld(_ next: Wanted, _ present: PresentFile) {
    command.notice = notice
    // As long as the command must run for the file, no value is reported as standing in it.
    let isOwed = isOwed || command.isOwed
    var standing = isOwed ? [:] : next.standing(in: present.text)
    let lacking = next.versions.filter { standing[$0.key] == nil }
    if !isOwed, let known = told?.known {
      // The file may have an earlier version of a value that it lacks.
      standing.merge(known.standing(in: present.text).filter { lacking[$0.key] != nil }) { $1 }
    }
    command.hold(reason("written"), lacking, standing: standing)
  }

  func keepValues(of wanted: Wanted?) {
    guard ways.adopts, let wanted else { return }
    earlier.note(wanted.rendering.versions)
    for item in Set(wanted.template.actions.map(\.item)) where item.isSecret {
      wanted.rendering.fetched.withBytes(of: item) { earlier.add($0, of: item) }
    }
  }
}

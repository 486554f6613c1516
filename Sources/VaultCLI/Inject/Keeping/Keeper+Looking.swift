internal import CLinux
internal import Glibc
internal import VaultBytes

// The keeper's reactions to changes of the template and the output.
extension Keeper {
  /// Looks at the template and the output, and reacts to changes.
  func look() {
    nextLook = nil
    lookAside()
    tellNotice()
    defer { tellNotice() }
    switch templateState() {
    case .another: return isDueNow()
    case .unreadable:
      // A program that is replacing the template gets some time. The next attempt then reports the problem.
      if !isDue { (isDue, retry) = (true, Moment.now() + Self.absence) }
      isTemplateGone = true
    case .same:
      if isTemplateGone { retry = nil }
      isTemplateGone = false
    }
    guard let present = file.present() else {
      if !isDue { (isDue, retry) = (true, Moment.now() + Self.absence) }
      foreign = nil
      return
    }
    // The folder watch reports the end of a write. It reports nothing if only the read was disturbed, so the keeper
    // looks again later.
    if present.hasWriter { return lookLater() }
    if displacedBase == nil { lookPause = Self.firstLook }
    lookAtMode(of: present)
    // The attempt that is due comes first: after it, more is known of the values that a program can have.
    if isDue, retry == nil, wanted != nil {
      nextLook = Moment.now()
      return
    }
    // A mode that was restored may be what kept the file from being read.
    if lookAt(present.isReadable ? present : file.present() ?? present), isHeld { isDueNow() }
  }

  /// Returns true for the keeper's own file, with the text that it last had. Somebody may have given it a mode with
  /// which it cannot be read.
  func isBase(_ present: PresentFile) -> Bool {
    guard let base else { return false }
    return present.holds(base.rendering.bytes) || !present.isReadable && file.isOwn(present)
  }

  /// Restores the mode of the keeper's own file after somebody changed it.
  ///
  /// - Returns: false if the file keeps another mode.
  @discardableResult func lookAtMode(of present: PresentFile) -> Bool {
    guard file.hasOtherMode(present) else { return true }
    // A program that sets another mode each time is not fought.
    guard isBase(present), modesRestored < Self.mostModes else { return false }
    modesRestored += 1
    let isRestored = modesRestored < Self.mostModes && file.restoreMode(of: present)
    report.modeChanged(present.status.st_mode & 0o7777, from: file.output.mode, isRestored: isRestored)
    return isRestored
  }

  /// The number of the mode change that is no longer undone.
  private static let mostModes = 4

  /// Schedules another look, after a pause that doubles each time.
  func lookLater() {
    nextLook = Moment.now() + lookPause
    lookPause = min(2 * lookPause, Self.lastLook)
  }

  /// Checks whether there is room by now for the held text, and whether a program has finished writing a displaced
  /// file.
  private func lookAside() {
    let hasAside = file.hasAside
    if let known = displacedBase {
      if let aside = PresentFile(file.asidePath), aside.hasWriter {
        lookLater()
      } else {
        displacedBase = nil
        if let aside = PresentFile(file.asidePath) {
          adopt(KeptFile.Displaced(file: aside, isSudden: true, isQuiet: !aside.mayHaveWriter), known)
        }
      }
    }
    if isHeld, hadAside, !hasAside { isDueNow() }
    hadAside = hasAside
  }

  enum TemplateState { case same, another, unreadable }

  private func templateState() -> TemplateState {
    guard let wanted else { return .same }
    return templateState(wanted.template)
  }

  /// Compares the template with its file. A file that is empty now and was not before counts as unreadable, because a
  /// program is still writing it.
  func templateState(_ template: borrowing Template) -> TemplateState {
    guard let now = try? FileInput.readRegularFile(request.input, limit: Template.limit) else { return .unreadable }
    if template.source.isEqual(to: now) { return .same }
    return now.count == 0 ? .unreadable : .another
  }

  /// Reacts to the file at the output's path.
  ///
  /// - Returns: true if the template adopted another program's text.
  func lookAt(_ present: PresentFile) -> Bool {
    guard let wanted else { return false }
    if present.holds(wanted.rendering.bytes) {
      noteRight(wanted, present)
      return false
    }
    if isBase(present) {
      noteUndone()
      return false
    }
    // A text that was reported is looked at again after a new rendering, because it may hold the values of that
    // rendering.
    if let foreign, !awaitsAdoption, !awaitsVersions, told?.wanted === wanted, present.isSame(as: foreign) {
      return false
    }
    let last = base ?? wanted
    let source = source(of: present, or: last)
    if base == nil, case .success(let known) = source, present.holds(known.rendering.bytes) {
      // As far as the keeper can tell, the text is an earlier keeper's last write.
      keepValues(of: known)
      base = known
      noteUndone()
      return false
    }
    guard let known = tell(of: present, source, or: last) else { return false }
    if known !== base { isDueNow() }
    return true
  }

  /// Reacts to the return of the keeper's own text: somebody has undone another program's change.
  private func noteUndone() {
    foreign = nil
    if isHeld { isDueNow() } else if hasLost { isNoLongerHeld() }
  }

  /// Returns the rendering from which a program has made a text. The program may have the present values, the ones that
  /// the file last had, and earlier ones.
  func source(of present: PresentFile, or last: Wanted) -> Result<Wanted, Failure> {
    // If the template has changed since the last write, the text was made from the earlier one, and the change must not
    // be undone.
    let newest = wanted.map { $0.template.source.isEqual(to: last.template.source) ? $0 : last } ?? last
    let known = [last, told?.known].compactMap { $0 }.filter { known in
      known !== newest && known.template.source.isEqual(to: newest.template.source)
    }
    func older(_ session: Session?) throws(Failure) -> Wanted {
      try newest.older(in: present.text, known: known, session, name: request.name)
    }
    do throws(Failure) {
      let known = try older(session)
      awaitsVersions = false
      return .success(known)
    } catch {
      awaitsVersions = base == nil
      // An adoption must know all values, and is tried again. A report does without those that cannot be fetched now.
      if !ways.adopts, let known = try? older(nil) { return .success(known) }
      return .failure(error)
    }
  }

  private func noteRight(_ wanted: Wanted, _ present: PresentFile) {
    foreign = nil
    signals.whole { file.confirm(present) }
    if isHeld || hasLost || base == nil { isNoLongerHeld(isNew: base.map { !$0.gives(wanted) } ?? false) }
    base = wanted
  }

  /// Reports a text that a program made from a rendering, and lets the template adopt it if that is allowed.
  ///
  /// - Parameters:
  ///   - known: the rendering from which the text was made; or the error, which may pass, that keeps this rendering
  ///     unknown now.
  ///   - last: the rendering to compare with after such an error.
  /// - Returns: the rendering if the template adopted the text; nil otherwise.
  private func tell(of present: PresentFile, _ known: Result<Wanted, Failure>, or last: Wanted) -> Wanted? {
    let wasTold = foreign.map { present.isSame(as: $0) } ?? false
    var obstacle: Obstacle?
    var rewriting: Rewriting
    let rendered: Wanted
    switch known {
    case .success(let known):
      rendered = known
      rewriting = present.text.withBytes { Rewriting(of: known.rendering, known.template, as: $0) }
      if ways.adopts {
        // No value of any rendering may come into the template, whichever the text was made from.
        for other in [wanted, base, told?.known] where other !== known { keepValues(of: other) }
        obstacle = adopt(present, rewriting, known)
      }
    case .failure(let failure):
      rendered = last
      rewriting = present.text.withBytes { Rewriting(of: last.rendering, last.template, as: $0) }
      obstacle = .passing(failure.message)
    }
    let isAdopted = ways.adopts && obstacle == nil
    if !wasTold || isAdopted || obstacle?.reason != self.obstacle || told?.fates != rewriting.fates {
      report.rewritten(
        rewriting, rendered.template.actions, obstacle: obstacle?.reason,
        unread: present.isReadable ? nil : present.unread)
    }
    foreign = isAdopted ? nil : present
    self.obstacle = obstacle?.reason
    told = isAdopted ? nil : Told(wanted: wanted, known: rendered, fates: rewriting.fates)
    tryAgain(after: obstacle)
    if isHeld, !isAdopted, let wanted {
      // The report is about the versions that are due, which may differ from those in the text.
      sayHeld(wanted, present)
    } else if isAdopted {
      // An earlier receipt may have reported a value as gone.
      if hasLost, !isHeld { isNoLongerHeld() }
    } else {
      // Receipts are about the present versions, even if the text was made from older ones.
      sayLost(
        rendered === last
          ? rewriting : present.text.withBytes { Rewriting(of: last.rendering, last.template, as: $0) }, last)
    }
    return isAdopted ? rendered : nil
  }

  /// Reports the values that a program changed or left out as missing from the file, and later as present again.
  ///
  /// - Parameter mayBeNew: true if the values' versions may differ from the ones that were reported before.
  func sayLost(_ rewriting: Rewriting, _ known: Wanted, mayBeNew: Bool = false) {
    let actions = known.template.actions
    let items = Set(actions.indices.filter { rewriting.fates[$0].isLost }.map { actions[$0].item.name })
    let versions = known.versions.filter { items.contains($0.key) }
    guard !versions.isEmpty else {
      if hasLost || mayBeNew { isNoLongerHeld() }
      return
    }
    hasLost = true
    command.notice = notice
    let standing = mayBeNew ? known.versions.filter { versions[$0.key] == nil } : [:]
    command.hold(reason("changed it in"), versions, standing: standing)
  }
}

internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

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
    // An attempt is about to be made, after which more is known of the values that a program can have.
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
  func lookAtMode(of present: PresentFile) {
    guard file.hasOtherMode(present), isBase(present) else { return }
    // A program that sets another mode each time is not fought.
    guard modesRestored < Self.mostModes else { return }
    modesRestored += 1
    let isRestored = modesRestored < Self.mostModes && file.restoreMode(of: present)
    report.modeChanged(present.status.st_mode & 0o7777, from: file.output.mode, isRestored: isRestored)
  }

  /// The number of the mode change that is no longer undone.
  private static let mostModes = 4

  /// Schedules another look, after a pause that doubles each time.
  private func lookLater() {
    nextLook = Moment.now() + lookPause
    lookPause = min(2 * lookPause, Self.lastLook)
  }

  /// Checks whether there is room by now for the held text, and whether a displaced file is written to its end.
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
  private func templateState(_ template: borrowing Template) -> TemplateState {
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
      isRight(wanted, present)
      return false
    }
    if isBase(present) {
      // Somebody has undone another program's change.
      foreign = nil
      if isHeld { isDueNow() } else if hasLost { isNoLongerHeld() }
      return false
    }
    // A text that is known may hold the values of a newer rendering.
    if let foreign, !awaitsAdoption, told?.wanted === wanted, present.isSame(as: foreign) { return false }
    let last = base ?? wanted
    guard let known = tell(of: present, source(of: present, or: last), or: last) else { return false }
    if known !== base { isDueNow() }
    return true
  }

  /// Returns the rendering from which a program has made a text. The program may have the present values, the ones that
  /// the file last had, and earlier ones.
  private func source(of present: PresentFile, or last: Wanted) -> Result<Wanted, Failure> {
    // If the template has changed since the last write, the text was made from the earlier one, and the change must not
    // be undone.
    let newest = wanted.map { $0.template.source.isEqual(to: last.template.source) ? $0 : last } ?? last
    let known = [last, told?.known].compactMap { $0 }.filter { known in
      known !== newest && known.template.source.isEqual(to: newest.template.source)
    }
    do throws(Failure) {
      return .success(
        try newest.older(in: present.text, known: known, ways.adopts ? session : nil, name: request.name))
    } catch { return .failure(error) }
  }

  private func isRight(_ wanted: Wanted, _ present: PresentFile) {
    foreign = nil
    signals.whole { file.confirm(present) }
    if isHeld || hasLost || base == nil { isNoLongerHeld(isNew: base.map { !$0.gives(wanted) } ?? false) }
    base = wanted
  }

  /// Reports a text that a program made from a rendering, and lets the template adopt it if that is allowed.
  ///
  /// - Parameters:
  ///   - known: the rendering from which the text was made; or the error, which may pass, because of which that
  ///     rendering cannot be determined now.
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

  /// Schedules another attempt to adopt the text if the obstacle may pass.
  private func tryAgain(after obstacle: Obstacle?) {
    switch obstacle {
    case .passing?: (awaitsAdoption, adoption) = (true, Moment.now() + adoptionPause.failed() * 1000)
    case .lasting?, nil:
      (awaitsAdoption, adoption) = (false, nil)
      adoptionPause.reset()
    }
  }

  /// Looks again at a text that the template could not adopt.
  func adoptAgain() {
    adoption = nil
    guard let present = file.present(), !present.hasWriter else { return lookLater() }
    if lookAt(present), isHeld { isDueNow() }
  }

  /// Reports the values that a program changed or left out as missing from the file, and later as present again.
  ///
  /// - Parameter mayBeNew: true if the values' versions may differ from the ones that were reported before.
  func sayLost(_ rewriting: Rewriting, _ known: Wanted, mayBeNew: Bool = false) {
    let actions = known.template.actions
    let items = Set(actions.indices.filter { rewriting.fates[$0].isLost }.map { actions[$0].item.name })
    let versions = known.rendering.versions.filter { items.contains($0.key) }
    guard !versions.isEmpty else {
      if hasLost || mayBeNew { isNoLongerHeld() }
      return
    }
    hasLost = true
    command.notice = notice
    let standing = mayBeNew ? known.rendering.versions.filter { versions[$0.key] == nil } : [:]
    command.hold(reason("changed it in"), versions, standing: standing)
  }

  // MARK: Adoption

  /// The reason why the template adopted nothing.
  private enum Obstacle {
    /// A reason in the text itself.
    case lasting(String)
    /// A reason that may pass, such as a full disk.
    case passing(String)

    var reason: String {
      switch self {
      case .lasting(let reason), .passing(let reason): reason
      }
    }

    init(_ error: any Error) {
      if let refusal = error as? Adoption.Refusal {
        self = .lasting(refusal.reason)
      } else {
        self = .passing(Failure(any: error).message)
      }
    }
  }

  /// Adopts another program's text into the template; returns the obstacle if that fails.
  private func adopt(_ present: PresentFile, _ rewriting: Rewriting, _ known: Wanted) -> Obstacle? {
    guard present.isReadable else { return .lasting(present.unread) }
    do {
      let adopted = try adopted(present, rewriting, known)
      (wanted, base, foreign) = (adopted, adopted, nil)
      signals.whole { file.confirm(present) }
      return nil
    } catch { return Obstacle(error) }
  }

  /// Writes a template that adopts the text, and returns that template with its rendering.
  private func adopted(_ present: PresentFile, _ rewriting: Rewriting, _ known: Wanted) throws -> Wanted {
    let adoption = try present.text.withBytes { bytes throws(Adoption.Refusal) in
      try Adoption(of: rewriting, known.rendering, known.template, as: bytes, earlier: earlier)
    }
    try signals.whole { () throws(Failure) in try write(adoption.source, over: known) }
    let template = try Template(adoption.source.withBytes { SecretBuffer(copying: $0) })
    let rendering = try Rendering(template, known.rendering.fetched.copy(), name: request.name)
    return Wanted(template, rendering)
  }

  /// Reports a text that was displaced before the keeper saw it, and lets the template adopt it if that is allowed.
  /// After an adoption, no file stays beside the output.
  func adopt(_ displaced: KeptFile.Displaced, _ last: Wanted) {
    let known = (try? source(of: displaced.file, or: last).get()) ?? last
    let rewriting = displaced.file.text.withBytes { Rewriting(of: known.rendering, known.template, as: $0) }
    var obstacle: String?
    if ways.adopts {
      // No value of any rendering may come into the template, whichever the text was made from.
      for other in [wanted, last, told?.known] { keepValues(of: other) }
      if displaced.file.hasWriter {
        // The folder watch reports the end of that write.
        (displacedBase, obstacle) = (last, "the program is still writing it")
      } else {
        do { _ = try adopted(displaced.file, rewriting, known) } catch { obstacle = Obstacle(error).reason }
      }
    }
    report.rewritten(rewriting, known.template.actions, obstacle: obstacle, at: file.asidePath)
    guard ways.adopts, obstacle == nil else { return }
    file.removeAside(displaced)
    tellNotice()
    isDueNow()
  }

  /// Replaces the template; its mode and its owner stay.
  private func write(_ source: borrowing SecretBuffer, over known: Wanted) throws(Failure) {
    var status = stat()
    guard unsafe stat(request.input, &status) == 0 else {
      throw Failure(.io, "cannot look at \(Printable.text(request.input)): \(Output.describe(errno))")
    }
    let file = try NewFile(request.input, replaces: true, mode: status.st_mode & 0o777)
    if status.st_uid != geteuid() || status.st_gid != getegid() { try file.give(to: status.st_uid, status.st_gid) }
    try source.withBytes { bytes throws(Failure) in try file.write(bytes) }
    // A change that somebody else makes meanwhile must not be lost.
    let isChanged = Failure(.retry, "it was changed itself")
    try file.sync()
    guard templateState(known.template) == .same else { throw isChanged }
    try self.file.willExchange(template: file.partPath)
    switch try file.exchange() {
    case .done: break
    case .isGone: throw isChanged
    case .isImpossible: throw NewFile.cannotExchange(beside: request.input, EINVAL, isTemplate: true)
    }
    guard let displaced = PresentFile(file.part, in: file.folder), !displaced.mayHaveWriter,
      displaced.holds(known.template.source)
    else {
      let known = PresentFile(file.part, in: file.folder)
      if !file.undo(of: source, for: known) { report.leftover(file.partPath, .template) }
      throw isChanged
    }
    file.drop()
  }

  // MARK: What a person is to see to

  /// Reports files that were left under temporary names, and updates the notice once they are gone.
  func tellLeftovers() {
    let own = file.ownLeftovers
    let paths = Set(file.leftovers + own)
    guard paths != leftovers else { return }
    for path in paths.subtracting(leftovers) { report.leftover(path, own.contains(path) ? .own : .foreign) }
    leftovers = paths
    files.others = Set(
      paths.map { path in String(path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]) })
    tellNotice()
  }

  /// The notice for `vault status`; nil if there is nothing to report.
  var notice: String? {
    var words = NoticeText()
    let output = Self.absolute(file.output.path)
    if isHeld {
      words.add("", output, " is held, because another program has written it")
    } else if foreign != nil {
      words.add("", output, " differs from the template's text, because another program has written it")
    }
    for path in (file.hasAside ? [file.asidePath] : []) + file.leftovers {
      words.add(KeeperReport.Leftover.foreign.rawValue + " lies in ", Self.absolute(path))
    }
    for path in file.ownLeftovers { words.add(KeeperReport.Leftover.own.rawValue + " lies in ", Self.absolute(path)) }
    for path in file.templateLeftovers {
      words.add(KeeperReport.Leftover.template.rawValue + " lies in ", Self.absolute(path))
    }
    return words.text()
  }

  /// The reason why versions are missing from the file, in words.
  func reason(_ words: String) -> String {
    var reason = NoticeText()
    reason.add("another program has \(words) ", file.output.path)
    return reason.text(most: NoticeText.mostOfVersion) ?? ""
  }

  /// Sends the notice again if it has changed.
  private func tellNotice() {
    guard command.notice != notice, wanted != nil else { return }
    command.notice = notice
    command.sayAgain()
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }
}

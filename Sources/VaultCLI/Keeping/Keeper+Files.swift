internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

// What has become of the template and the output.
extension Keeper {
  /// Finds it out.
  func look() {
    nextLook = nil
    lookAside()
    tellNotice()
    defer { tellNotice() }
    switch templateState() {
    case .another: return isDueNow()
    case .unreadable:
      // Whoever replaces it gets time; the next attempt then says what is wrong.
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
    // Its end is told of, but not when the reading alone was disturbed.
    if present.hasWriter { return lookLater() }
    if displacedBase == nil { lookPause = Self.firstLook }
    lookAtMode(of: present)
    if lookAt(present), isHeld { isDueNow() }
  }

  /// Sets the mode right that somebody has changed of what the keeper wrote.
  func lookAtMode(of present: PresentFile) {
    guard file.hasOtherMode(present), let base, present.holds(base.rendering.bytes) else { return }
    // Whoever sets another one each time is not fought.
    guard modesRestored < Self.mostModes else { return }
    modesRestored += 1
    let isRestored = modesRestored < Self.mostModes && file.restoreMode(of: present)
    report.modeChanged(present.status.st_mode & 0o7777, from: file.output.mode, isRestored: isRestored)
  }

  /// The time at which another mode stays.
  private static let mostModes = 4

  /// Looks again by and by.
  private func lookLater() {
    nextLook = Moment.now() + lookPause
    lookPause = min(2 * lookPause, Self.lastLook)
  }

  /// Finds out whether there is room by now for what was held, and whether what was displaced is written to the end.
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

  /// One that is empty now and was not is being written.
  private func templateState(_ template: borrowing Template) -> TemplateState {
    guard let now = try? FileInput.readRegularFile(request.input, limit: Template.limit) else { return .unreadable }
    if template.source.isEqual(to: now) { return .same }
    return now.count == 0 ? .unreadable : .another
  }

  /// Takes note of what stands at the output's path.
  ///
  /// - Returns: true when the template has taken what another program has written.
  func lookAt(_ present: PresentFile) -> Bool {
    guard let wanted else { return false }
    if present.holds(wanted.rendering.bytes) {
      isRight(wanted, present)
      return false
    }
    if let base, present.holds(base.rendering.bytes) {
      // Somebody has undone what another program had written.
      foreign = nil
      if isHeld { isDueNow() } else if hasLost { isNoLongerHeld() }
      return false
    }
    if let foreign, !awaitsAdoption, present.isSame(as: foreign) { return false }
    let last = base ?? wanted
    // The program may still have a value from before.
    let known: Result<Wanted, Failure> = ways.adopts ? older(present, last) : .success(last)
    guard let known = tell(of: present, known, or: last) else { return false }
    if known !== base { isDueNow() }
    return true
  }

  private func isRight(_ wanted: Wanted, _ present: PresentFile) {
    foreign = nil
    file.confirm(present)
    if isHeld || hasLost || base == nil { isNoLongerHeld(isNew: base.map { !$0.gives(wanted) } ?? false) }
    base = wanted
  }

  private func older(_ present: PresentFile, _ wanted: Wanted) -> Result<Wanted, Failure> {
    do throws(Failure) {
      guard let older = try wanted.older(in: present.text, session, name: request.name) else { return .success(wanted) }
      keepValues(of: wanted)
      return .success(older)
    } catch { return .failure(error) }
  }

  /// Tells of a text that goes back to a rendering, and has the template take it if it may.
  ///
  /// - Parameters:
  ///   - known: the rendering; or the error, which passes, for which it cannot be told.
  ///   - last: the one that is looked at then.
  /// - Returns: the rendering where the template has taken it.
  private func tell(of present: PresentFile, _ known: Result<Wanted, Failure>, or last: Wanted) -> Wanted? {
    let wasTold = foreign.map { present.isSame(as: $0) } ?? false
    var obstacle: Obstacle?
    var rewriting: Rewriting
    let rendered: Wanted
    switch known {
    case .success(let known):
      rendered = known
      rewriting = present.text.withBytes { Rewriting(of: known.rendering, known.template, as: $0) }
      if ways.adopts { obstacle = adopt(present, rewriting, known) }
    case .failure(let failure):
      rendered = last
      rewriting = present.text.withBytes { Rewriting(of: last.rendering, last.template, as: $0) }
      obstacle = .passing(failure.message)
    }
    let isAdopted = ways.adopts && obstacle == nil
    if !wasTold || isAdopted || obstacle?.reason != self.obstacle {
      report.rewritten(rewriting, rendered.template.actions, obstacle: obstacle?.reason)
    }
    foreign = isAdopted ? nil : present
    self.obstacle = obstacle?.reason
    tryAgain(after: obstacle)
    if isAdopted {
      // Perhaps a value was said to be gone before.
      if hasLost, !isHeld { isNoLongerHeld() }
    } else {
      // The receipts are of the versions of now, also where it goes back to older ones.
      sayLost(
        rendered === last
          ? rewriting : present.text.withBytes { Rewriting(of: last.rendering, last.template, as: $0) }, last)
    }
    return isAdopted ? rendered : nil
  }

  /// Has the template tried again by and by, where what was in the way passes.
  private func tryAgain(after obstacle: Obstacle?) {
    switch obstacle {
    case .passing?: (awaitsAdoption, adoption) = (true, Moment.now() + adoptionPause.failed() * 1000)
    case .lasting?, nil:
      (awaitsAdoption, adoption) = (false, nil)
      adoptionPause.reset()
    }
  }

  /// Looks again at a text that the template could not take.
  func adoptAgain() {
    adoption = nil
    guard let present = file.present(), !present.hasWriter else { return lookLater() }
    if lookAt(present), isHeld { isDueNow() }
  }

  /// Says of the values that a program has changed or left out that they are not in the file, and when they are again.
  ///
  /// - Parameter mayBeNew: true where their versions may be others than those that were told before.
  func sayLost(_ rewriting: Rewriting, _ known: Wanted, mayBeNew: Bool = false) {
    // Held, none of the versions that are due is in it, which was said.
    guard !isHeld else { return }
    let items = known.template.actions.indices.filter { rewriting.fates[$0].isLost }
      .map { known.template.actions[$0].item.name }
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

  /// The reason why the template took nothing.
  private enum Obstacle {
    /// The text itself.
    case lasting(String)
    /// Something that is better by and by, such as a full disk.
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

  /// Takes what a program has written into the template; the reason why not, if it does not.
  private func adopt(_ present: PresentFile, _ rewriting: Rewriting, _ known: Wanted) -> Obstacle? {
    guard present.isReadable else { return .lasting("it cannot be read") }
    do {
      let adopted = try adopted(present, rewriting, known)
      (wanted, base, foreign) = (adopted, adopted, nil)
      file.confirm(present)
      return nil
    } catch { return Obstacle(error) }
  }

  /// The template that takes it, which is written, and what that gives.
  private func adopted(_ present: PresentFile, _ rewriting: Rewriting, _ known: Wanted) throws -> Wanted {
    let adoption = try present.text.withBytes { bytes throws(Adoption.Refusal) in
      try Adoption(of: rewriting, known.rendering, known.template, as: bytes, earlier: earlier)
    }
    try write(adoption.source, over: known)
    let template = try Template(adoption.source.withBytes { SecretBuffer(copying: $0) })
    let rendering = try Rendering(template, known.rendering.fetched.copy(), name: request.name)
    return Wanted(template, rendering)
  }

  /// Tells of what was displaced unseen, and has the template take it if it may; then nothing stays beside the file.
  func adopt(_ displaced: KeptFile.Displaced, _ known: Wanted) {
    let rewriting = displaced.file.text.withBytes { Rewriting(of: known.rendering, known.template, as: $0) }
    var obstacle: String?
    if ways.adopts {
      // The values of now must not come into it either.
      keepValues(of: wanted)
      if displaced.file.hasWriter {
        // Its end is told of.
        (displacedBase, obstacle) = (known, "the program is still writing it")
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
    // What somebody else has written meanwhile is not lost.
    let isChanged = Failure(.retry, "it has been changed itself")
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

  /// Tells of what has come to lie under a name that nobody has chosen, and of its end.
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

  /// The words for `vault status`; nil where there is nothing.
  var notice: String? {
    var words = NoticeText()
    let output = Self.absolute(file.output.path)
    if isHeld {
      words.add("", output, " is held, because another program has written it")
    } else if foreign != nil {
      words.add("", output, " is not what the template gives, because another program has written it")
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

  /// The words for versions that are not in the file.
  func reason(_ words: String) -> String {
    var reason = NoticeText()
    reason.add("another program has \(words) ", file.output.path)
    return reason.text(most: NoticeText.mostOfVersion) ?? ""
  }

  /// Says it where something has come to it, or has gone.
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

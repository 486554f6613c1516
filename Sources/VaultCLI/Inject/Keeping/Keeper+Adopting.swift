internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel

// The adoption of another program's text into the template.
extension Keeper {
  /// The reason why the template adopted nothing.
  enum Obstacle {
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
  func adopt(_ present: PresentFile, _ rewriting: Rewriting, _ known: Wanted) -> Obstacle? {
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
    try keepSkippedValues(known)
    let adoption = try present.text.withBytes { bytes throws(Adoption.Refusal) in
      try Adoption(of: rewriting, known.rendering, known.template, as: bytes, earlier: earlier)
    }
    try signals.whole { () throws(Failure) in try write(adoption.source, over: known) }
    let template = try Template(adoption.source.withBytes { SecretBuffer(copying: $0) })
    let rendering = try Rendering(template, known.rendering.fetched.copy(), name: request.name)
    return Wanted(template, rendering)
  }

  /// Fetches the values that items had between two renderings, or after the last one, as far as they can be read. They
  /// must not come into the template either.
  ///
  /// - Throws: ``Failure`` if a value cannot be fetched now and may be later.
  private func keepSkippedValues(_ known: Wanted) throws(Failure) {
    earlier.note(known.rendering.versions)
    for name in Set(known.template.actions.map(\.item).filter(\.isSecret).map(\.name)) {
      for version in earlier.skipped(of: name) { try keepValue(of: name, version) }
      while let newest = earlier.newest(of: name) {
        do throws(Failure) { guard try keepValue(of: name, newest + 1) else { break } } catch {
          // While the vault is locked, an item for which no change was reported has no newer value.
          if isDue { throw error }
          break
        }
      }
    }
  }

  /// Fetches the value of a version and keeps it; returns false if there is no such version, or if this caller may not
  /// read it.
  @discardableResult
  private func keepValue(of name: ItemName, _ version: Int) throws(Failure) -> Bool {
    do throws(Failure) {
      let value = try session.call { vault in try vault.get(name.text, version: version, expired: true) }
      value.withBytes { earlier.add($0, of: ItemReference(name)) }
    } catch {
      if error.exit == .retry || error.exit == .unavailable { throw error }
      if version < earlier.newest(of: name) ?? 0 { earlier.note([name: version]) }
      return false
    }
    earlier.note([name: version])
    return true
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
    let isChanged = Failure(.retry, "the template was changed meanwhile")
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

  /// Schedules another attempt to adopt the text if the obstacle may pass.
  func tryAgain(after obstacle: Obstacle?) {
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
}

internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// Checks everything that a vault needs, from the client's side, and changes nothing.
struct Doctor {
  let globals: Globals

  init(_ globals: Globals) { self.globals = globals }

  func examine() -> [Diagnosis] {
    var diagnoses: [Diagnosis] = []
    let location: SocketLocation
    do throws(ClientError) {
      location = globals.system ? .system : try .user(explicit: globals.socket)
    } catch .foreignFolder(let folder) {
      return [Self.foreign(folder)]
    } catch {
      let failure = Failure(error)
      let place = Diagnosis.fail("socket", failure.event, fix: failure.advice ?? "give --socket")
      return [place] + elsewhere(than: error.lackOfPlace.map { .none($0) }) + files(nil)
    }
    // If no daemon can listen at the place, that result is enough.
    var answers: [Diagnosis] = []
    let status = location.problem == nil ? daemon(location, &answers) : nil
    diagnoses += place(location) + socket(location, status) + answers
    if status == nil { diagnoses = diagnoses.map(Self.left) }
    if location.problem != nil, isOwn { diagnoses += elsewhere(than: .socket(location.path)) }
    diagnoses += files(status)
    diagnoses += SystemdUnits.diagnoses(system: globals.system, isOwn: isOwn)
    // The machine's daemon may be installed where only the service manager finds it.
    diagnoses += InstalledHelpers.diagnoses(ofDaemon: isOwn || globals.system, hasDaemon: isOwn && status != nil)
    if let status { diagnoses += CoreLimit.diagnoses(pid: status.pid) }
    // A mode that is open to others is one fault, even if the daemon also refuses the store because of it.
    if diagnoses.contains(where: { $0.check == "store" && $0.level == .fail && $0.fix != nil }) {
      diagnoses.removeAll { $0.check == "store" && $0.level == .fail && $0.fix == nil }
    }
    // A refused settings file is one fault as well, even if the daemon also warns of it.
    if diagnoses.contains(where: { $0.check == Doctor.settings && $0.level == .fail }) {
      diagnoses.removeAll { $0.check == Doctor.settings && $0.level == .warn }
    }
    return diagnoses
  }

  /// Reports the process that serves the user's vault at another place, if no daemon can listen at this one.
  private func elsewhere(than place: StoreHolder.Place?) -> [Diagnosis] {
    guard let place, case .held(let holder) = StoreHolder.find(system: false) else { return [] }
    return [.fail("daemon", holder.elsewhere(than: place), fix: holder.remedy)]
  }

  /// True for the user's own socket at its default place.
  var isOwn: Bool { Session.isOwn(socket: globals.socket, system: globals.system) }

  /// True if somebody named a socket, so that nothing but an answer tells which vault that is.
  private var isUnknownVault: Bool { !isOwn && !globals.system }

  /// The user who must own the files; nil for the machine's vault.
  private var owner: uid_t? { globals.system ? nil : geteuid() }

  /// Returns the faults of the socket's place, whatever is there.
  private func place(_ location: SocketLocation) -> [Diagnosis] {
    var diagnoses: [Diagnosis] = []
    if isOwn, let value = SocketLocation.passedOver {
      diagnoses.append(
        .warn(
          "socket", "XDG_RUNTIME_DIR is \(Printable.quoted(value)), which is not an absolute path and is ignored",
          fix: "set it to an absolute path"))
    }
    if let problem = location.problem { diagnoses.append(.fail("socket", problem, fix: location.remedy)) }
    return diagnoses
  }

  /// Returns the state of the socket and its folder.
  ///
  /// A daemon with `--system` may have been given a socket of its own, and serves other users there. Its status counts
  /// no prompts of programs; a status that is not whole, and a daemon that does not answer, leave that open.
  private func socket(_ location: SocketLocation, _ status: Wire.StatusReply?) -> [Diagnosis] {
    guard let owner else { return [Self.openness(FileState(location.path), location.path)].compactMap { $0 } }
    let path = location.path
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    // A path that somebody gave may lead to another user's daemon; the client judges that when it connects.
    if !isOwn, FileState(folder).owner != owner { return [] }
    let isWhole = status?.trash != nil
    let isShared = !isOwn && isWhole && status?.prompts == nil
    func check(_ name: String, _ path: String, _ kind: FileState.Kind, shared: mode_t) -> Diagnosis? {
      let mode = isShared ? shared : 0o700
      let found = Diagnosis.permissions(name, path, is: kind, owner: owner, mode: mode)
      guard !isOwn, !isWhole, let found, found.level == .fail, let fix = found.fix,
        Diagnosis.permissions(name, path, is: kind, owner: owner, mode: shared)?.level == .ok
      else { return found }
      return .warn(name, found.text, fix: "\(fix), unless the daemon serves other users there, see vaultd(8)")
    }
    return [
      check("socket directory", folder, .directory, shared: 0o755), check("socket", path, .socket, shared: 0o777),
    ].compactMap { $0 }
  }

  /// The result for a socket at which nobody answers, such as the socket of a daemon that was killed.
  private static func left(_ diagnosis: Diagnosis) -> Diagnosis {
    guard diagnosis.check == "socket", diagnosis.level == .ok else { return diagnosis }
    return .ok(diagnosis.check, diagnosis.text + "; no daemon answers there")
  }

  private func daemon(_ location: SocketLocation, _ diagnoses: inout [Diagnosis]) -> Wire.StatusReply? {
    let status: Wire.StatusReply
    do throws(Failure) {
      guard let answer = try answer() else {
        diagnoses.append(absent(location))
        return nil
      }
      status = answer
    } catch {
      diagnoses.append(.fail("daemon", error.event, fix: fix(error)))
      return nil
    }
    diagnoses.append(.ok("daemon", "process \(status.pid) answers; the vault is \(status.state)"))
    diagnoses.append(version(status))
    if let problem = status.problem {
      diagnoses.append(status.state == "unreadable" ? store(problem) : Doctor.lost(problem))
    }
    let hasFailed = status.integrity?.state == "failed"
    if hasFailed {
      diagnoses += Integrity.warnings(status).map { Diagnosis.fail("integrity", $0.text, fix: $0.advice) }
    }
    if status.audit == "off" {
      diagnoses.append(
        .warn(
          "audit", "the log is off, so nobody can tell later who read what",
          fix: "set audit = on in vaultd.conf, then \(Hint.vault("reload"))"))
    }
    if let backup = status.backup { diagnoses.append(BackupAge(backup, now: Int64(time(nil))).diagnosis) }
    if let since = status.unconfirmed {
      diagnoses.append(
        .warn(
          "grants", "the vault came from a backup (\(LocalTime.text(since))), so no grant is in effect",
          fix: "look at them with \(Hint.vault("grants")), then run \(Hint.vault("grants confirm"))"))
    }
    diagnoses += ways(status)
    diagnoses += HiddenAttributes(globals).diagnoses()
    diagnoses += status.warnings.filter { !hasFailed || $0.about != "integrity" }.map(Doctor.warning)
    if !diagnoses.contains(where: { $0.check == Doctor.memory }) {
      diagnoses.append(.ok(Doctor.memory, "the daemon's keys stay out of swap"))
    }
    return status
  }

  /// Reports whether the daemon has this program's version and build. After an update, it may have an older one.
  private func version(_ status: Wire.StatusReply) -> Diagnosis {
    let isSame = status.version == ClientVersion.text
    let other = isSame ? try? ClientVersion.otherBuild(Session(globals, startsDaemon: false)) : nil
    if isSame, other == nil { return .ok("version", "client and daemon are \(status.version)") }
    return .warn(
      "version", other ?? ClientVersion.difference(from: status),
      fix: "restart the daemon after an update: \(ClientVersion.restart(status, system: globals.system))")
  }

  /// Returns the fault of a store that cannot be opened. A fault of the files themselves, such as their mode, is
  /// reported separately, with its remedy.
  private func store(_ problem: String) -> Diagnosis {
    do throws(Failure) {
      _ = try Session(globals, startsDaemon: false).call { vault in try vault.slots() }
    } catch {
      // Any other failure of this call is reported elsewhere.
      if error.exit == .invalid {
        return Diagnosis(check: "store", level: .fail, text: error.event, fix: error.advice)
      }
    }
    return Diagnosis(check: "store", level: .fail, text: problem, fix: nil)
  }

  /// Reports that the files which the daemon has open were removed or replaced: a sentence with its advice.
  private static func lost(_ problem: String) -> Diagnosis {
    let parts = problem.split(separator: "; ", maxSplits: 1).map(String.init)
    return Diagnosis(check: "store", level: .fail, text: parts[0], fix: parts.dropFirst().first)
  }

  /// Returns the daemon's status; nil if no daemon listens.
  private func answer() throws(Failure) -> Wire.StatusReply? {
    try Session(globals, startsDaemon: false).call { vault in
      do { return try vault.status() } catch ClientError.noDaemon { return nil }
    }
  }

  /// Reports the ways in that the vault has, each with the obstacle that keeps it from being used now.
  private func ways(_ status: Wire.StatusReply) -> [Diagnosis] {
    guard status.vault != nil, let session = try? Session(globals, startsDaemon: false),
      let slots = try? session.call({ vault in try vault.slots() })
    else { return [] }
    return status.methods.compactMap { method in
      let kind = method.name == "fingerprint" ? SlotKind.pam.name : method.name
      guard slots.contains(where: { $0.kind == kind }) else { return nil }
      let check = "unlock by \(method.name)"
      guard let reason = method.reason else { return .ok(check, "possible now") }
      return .warn(check, reason, fix: method.advice)
    }
  }

  private static let (memory, settings, bootKey) = ("locked memory", "settings", "boot key")

  /// Reports a limitation that the daemon warns of.
  private static func warning(_ warning: Wire.Warning) -> Diagnosis {
    let check = ["memory": memory, "settings": settings, "boot-key": bootKey][warning.about] ?? "daemon"
    return .warn(check, warning.text, fix: warning.advice)
  }

  // MARK: Files

  /// Reports a folder of the environment that belongs to another user. Nothing in it is this user's to mend, so this
  /// result is enough.
  private static func foreign(_ folder: ForeignFolder) -> Diagnosis {
    let failure = Failure(foreign: folder)
    return Diagnosis(check: "environment", level: .fail, text: failure.event, fix: failure.advice)
  }

  private func files(_ status: Wire.StatusReply?) -> [Diagnosis] {
    if !globals.system, let folder = Daemon.foreign { return [Self.foreign(folder)] }
    // A daemon at a socket that somebody named serves perhaps another vault, and tells its store only to its
    // administrators.
    if isUnknownVault, status != nil, status?.store == nil { return [] }
    guard let store = StorePaths(system: globals.system) else {
      return [.fail("store", "neither XDG_DATA_HOME nor HOME is set", fix: "set one of them to an absolute path")]
    }
    var diagnoses = [settings(store.configuration)].compactMap { $0 }
    guard let served = status?.store, served != store.directory else {
      return diagnoses + files(of: store, status)
    }
    if isOwn {
      diagnoses.append(
        .warn(
          "store", "the daemon serves \(served), and the environment here names \(store.directory)",
          fix: "set HOME and XDG_DATA_HOME as for the daemon, or end it with `kill \(status?.pid ?? 0)`"))
    }
    return diagnoses + files(of: StorePaths(store, at: served), status)
  }

  /// Reports the reasons for which the daemon would not trust the settings: the settings must be a regular file that
  /// nobody but root and the daemon's user can write.
  private func settings(_ path: String) -> Diagnosis? {
    guard case .there(let kind, let user, let mode, _) = FileState(path) else { return nil }
    guard kind != .link else {
      return .fail("settings", "\(path) is a symbolic link", fix: "put the file itself there")
    }
    guard kind == .file else { return .fail("settings", "\(path) is not a regular file", fix: "remove it") }
    if let owner, user != owner, user != 0 {
      return .fail("settings", "\(path) belongs to uid \(user)", fix: "chown it to root or to uid \(owner)")
    }
    guard mode & 0o022 == 0 else {
      return .fail("settings", "\(path) can be written by others", fix: "chmod go-w \(path)")
    }
    // For the machine's vault, only root's file is read: a file of another owner may be unreadable here, which says
    // nothing about the daemon.
    if user == 0 || !globals.system, let problem = Daemon.settingsProblem(system: globals.system) {
      return Diagnosis(check: "settings", level: .fail, text: Failure.reason(of: problem), fix: nil)
    }
    return .ok("settings", path)
  }

  /// Reports the files of a store.
  ///
  /// - Parameter status: the status of the daemon that serves it; nil if none answers.
  private func files(of store: StorePaths, _ status: Wire.StatusReply?) -> [Diagnosis] {
    // A socket that somebody named may lead to another user's daemon, and the store is that user's.
    let isNamed = !isOwn && status?.store != nil
    let none = "\(store.directory) does not exist yet; \(Hint.vault("init")) makes it"
    guard let owner = (isNamed ? nil : owner) ?? FileState(store.directory).owner else {
      if let status { return status.state == "new" ? [.ok("store", none)] : [] }
      return [.warn("store", "\(store.directory) does not exist", fix: "install the system service, see vaultd(8)")]
    }
    guard let directory = Diagnosis.permissions("store", store.directory, is: .directory, owner: owner, mode: 0o700)
    else {
      // A daemon with an open vault reports in `problem` that the vault's files are gone.
      if status?.problem != nil { return [] }
      return isUnknownVault && status?.store == nil ? [] : [.ok("store", none)]
    }
    var diagnoses = [directory]
    for name in ["vault.db", "vault.db-wal", "vault.lock", "vault.room"] {
      let path = store.directory + "/" + name
      let file = Diagnosis.permissions("store", path, is: .file, owner: owner, mode: 0o600)
      if let file { diagnoses.append(file) }
    }
    // A daemon with an open vault reports lost files in `problem`.
    if status?.problem == nil, let remnant = store.remnant {
      diagnoses.append(.warn("store", remnant, fix: StorePaths.remnantAdvice))
    }
    diagnoses += bootKey(store, owner, status)
    diagnoses += clock(store.directory + "/vault.db", status)
    diagnoses += FreeSpace(at: store.directory).map { [$0.diagnosis] } ?? []
    return diagnoses
  }

  private func bootKey(_ store: StorePaths, _ owner: uid_t, _ status: Wire.StatusReply?) -> [Diagnosis] {
    guard FileState(store.directory + "/vault.db").exists else { return [] }
    // The daemon has tried the key, and its warning stands among the others. Owner and mode tell less than that.
    let isUseless = status?.warnings.contains { $0.about == "boot-key" } == true
    guard let path = store.bootKey else {
      return isUseless ? [] : [.ok(Self.bootKey, "a credential that the service manager passes")]
    }
    if let key = Diagnosis.permissions(Self.bootKey, path, is: .file, owner: owner, mode: 0o600) {
      return isUseless && key.level == .ok ? [] : [key]
    }
    guard !isUseless else { return [] }
    return [
      .warn(
        Self.bootKey, "there is none at \(path), so `always` items are served only after an unlock",
        fix: "put it back, set boot-key in \(store.configuration), or have \(Hint.vault("rekey")) make a new one")
    ]
  }

  /// Compares the clock with the store's last change. A clock behind that change is behind the true time, and expiry
  /// then depends on the time of the store.
  private func clock(_ database: String, _ status: Wire.StatusReply?) -> [Diagnosis] {
    // The daemon knows the newest time in the store, and its warning stands among the others.
    if status?.warnings.contains(where: { $0.about == "clock" }) == true { return [] }
    guard case .there(_, _, _, let modified) = FileState(database) else { return [] }
    let now = Int64(time(nil))
    // File systems that get their time from elsewhere are allowed a difference of one minute.
    if Seconds.from(now, to: modified) > 60 {
      return [.warn("clock", "it is behind the store's last change", fix: "set it, or let NTP set it")]
    }
    return [.ok("clock", "it is not behind the store's last change")]
  }
}

extension FileState {
  /// The owner of the file; nil if that cannot be determined.
  var owner: uid_t? {
    if case .there(_, let owner, _, _) = self { owner } else { nil }
  }
}

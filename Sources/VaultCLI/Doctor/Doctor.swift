internal import Glibc
internal import VaultAPI
internal import VaultClient
internal import VaultModel

/// Looks at everything a vault needs, from the client's side, and changes nothing.
struct Doctor {
  let globals: Globals

  init(_ globals: Globals) { self.globals = globals }

  func examine() -> [Finding] {
    var findings: [Finding] = []
    let location: SocketLocation
    do throws(ClientError) {
      location = globals.system ? .system : try .user(explicit: globals.socket)
    } catch {
      return [.fail("socket", "XDG_RUNTIME_DIR is not set", fix: "log in through a session, or give --socket")]
        + files(nil)
    }
    findings += socket(location.path)
    let status = daemon(&findings)
    findings += files(status)
    findings += SystemdUnits.findings(system: globals.system)
    if let status { findings += CoreLimit.findings(pid: status.pid) }
    return findings
  }

  /// The user whose files they have to be.
  private var owner: uid_t? { globals.system ? nil : geteuid() }

  private func socket(_ path: String) -> [Finding] {
    guard let owner else { return [] }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let directory = Finding.permissions("socket directory", folder, is: .directory, owner: owner, mode: 0o700)
    let socket = Finding.permissions("socket", path, is: .socket, owner: owner, mode: 0o700)
    return [directory, socket].compactMap { $0 }
  }

  private func daemon(_ findings: inout [Finding]) -> Wire.StatusReply? {
    let status: Wire.StatusReply
    do throws(Failure) {
      guard let answer = try answer() else {
        findings.append(.warn("daemon", "none is running", fix: "the next command starts one"))
        return nil
      }
      status = answer
    } catch {
      let parts = error.message.split(separator: ";", maxSplits: 1).map(String.init)
      let fix = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "see its log"
      findings.append(.fail("daemon", parts.first ?? error.message, fix: fix))
      return nil
    }
    findings.append(.ok("daemon", "process \(status.pid) answers; the vault is \(status.state)"))
    if status.version == ClientVersion.text {
      findings.append(.ok("version", "client and daemon are \(status.version)"))
    } else {
      findings.append(
        .warn(
          "version", "the client is \(ClientVersion.text) and the daemon \(status.version)",
          fix: "restart the daemon after an update"))
    }
    if let problem = status.problem {
      findings.append(.fail("store", problem, fix: "keep the files as they are and see vaultd(8)"))
    }
    if status.integrity?.state == "failed" {
      findings.append(
        .fail("integrity", "the check of the store found something wrong", fix: "see `vault verify` for what it is"))
    }
    findings += ways(status)
    findings += status.warnings.map(Doctor.warning)
    if !findings.contains(where: { $0.check == Doctor.memory }) {
      findings.append(.ok(Doctor.memory, "the daemon's keys stay out of the swap"))
    }
    return status
  }

  /// The daemon's word; nil where nobody listens and a command would start one.
  private func answer() throws(Failure) -> Wire.StatusReply? {
    try Session(globals, startsDaemon: false).call { vault in
      do { return try vault.status() } catch ClientError.noDaemon where !globals.system { return nil }
    }
  }

  /// The ways in that the vault has, and what keeps one from being used now.
  private func ways(_ status: Wire.StatusReply) -> [Finding] {
    guard status.vault != nil, let session = try? Session(globals, startsDaemon: false),
      let slots = try? session.call({ vault in try vault.slots() })
    else { return [] }
    return status.methods.compactMap { method in
      let kind = method.name == "fingerprint" ? "pam" : method.name
      guard slots.contains(where: { $0.kind == kind }) else { return nil }
      let check = "unlock by \(method.name)"
      guard let reason = method.reason else { return .ok(check, "possible now") }
      let parts = reason.split(separator: ";", maxSplits: 1).map(String.init)
      return .warn(check, parts.first ?? reason, fix: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : nil)
    }
  }

  private static let memory = "locked memory"

  /// Reports the things that the daemon says it cannot do: each, and behind a colon or a semicolon what it comes to.
  private static func warning(_ text: String) -> Finding {
    let check = text.contains("memory") ? memory : "daemon"
    guard let mark = text.firstIndex(where: { $0 == ";" || $0 == ":" }) else { return .warn(check, text, fix: nil) }
    return .warn(check, String(text[..<mark]), fix: String(text[text.index(after: mark)...].drop { $0 == " " }))
  }

  // MARK: Files

  private func files(_ status: Wire.StatusReply?) -> [Finding] {
    guard let store = StorePaths(system: globals.system) else {
      return [.fail("store", "neither XDG_DATA_HOME nor HOME is set", fix: "set one of them to an absolute path")]
    }
    return [settings(store.configuration)].compactMap { $0 } + files(of: store)
  }

  /// Reports reasons why the daemon would not believe the settings: they have to be a file that nobody but root and its
  /// user can write.
  private func settings(_ path: String) -> Finding? {
    guard case .there(let kind, let user, let mode, _) = FileState(path) else { return nil }
    guard kind == .file else { return .fail("settings", "\(path) is no regular file", fix: "remove it") }
    if let owner, user != owner, user != 0 {
      return .fail("settings", "\(path) belongs to uid \(user)", fix: "chown it to root or to uid \(owner)")
    }
    guard mode & 0o022 == 0 else {
      return .fail("settings", "\(path) can be written by others", fix: "chmod go-w \(path)")
    }
    return .ok("settings", path)
  }

  private func files(of store: StorePaths) -> [Finding] {
    guard let owner = owner ?? FileState(store.directory).owner else {
      return [.warn("store", "\(store.directory) is not there", fix: "install the system service, see vaultd(8)")]
    }
    guard let directory = Finding.permissions("store", store.directory, is: .directory, owner: owner, mode: 0o700)
    else {
      return [.ok("store", "\(store.directory) is not there yet; `vault init` makes it")]
    }
    var findings = [directory]
    for name in ["vault.db", "vault.db-wal", "vault.lock"] {
      let path = store.directory + "/" + name
      if let file = Finding.permissions("store", path, is: .file, owner: owner, mode: 0o600) { findings.append(file) }
    }
    findings += bootKey(store, owner)
    findings += clock(store.directory + "/vault.db")
    return findings
  }

  private func bootKey(_ store: StorePaths, _ owner: uid_t) -> [Finding] {
    guard FileState(store.directory + "/vault.db").exists else { return [] }
    guard let path = store.bootKey else { return [.ok("boot key", "a credential that the service manager passes")] }
    if let key = Finding.permissions("boot key", path, is: .file, owner: owner, mode: 0o600) { return [key] }
    return [
      .warn(
        "boot key", "there is none at \(path), so `always` items are served only after an unlock",
        fix: "put it back, or set boot-key in \(store.configuration)")
    ]
  }

  /// A clock behind the store's last change is behind the true time: expiry then goes by the store's.
  private func clock(_ database: String) -> [Finding] {
    guard case .there(_, _, _, let modified) = FileState(database) else { return [] }
    let now = Int64(time(nil))
    // A minute of leave for file systems that keep time elsewhere.
    if Seconds.from(now, to: modified) > 60 {
      return [.warn("clock", "it is behind the store's last change", fix: "set it, or let NTP do so")]
    }
    return [.ok("clock", "it is not behind the store's last change")]
  }
}

extension FileState {
  /// The user whose it is; nil when that cannot be told.
  var owner: uid_t? {
    if case .there(_, let owner, _, _) = self { owner } else { nil }
  }
}

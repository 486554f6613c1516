internal import Logging
internal import VaultModel
internal import VaultService

/// The settings of a running daemon, which SIGHUP and Reload read again.
final class SettingsFile {
  /// The result of reading the settings again.
  struct Change: Equatable {
    let path: String
    /// True when there is no file, so that every setting has its default.
    let isMissing: Bool
    /// The settings that have changed.
    let changed: [String]
    /// The changed settings that wait for the daemon's next start.
    let later: [String]
  }

  private let paths: Paths
  private let log: Logger
  private let wall: () -> Int64
  private var current: Configuration
  /// The problem with the file when it was last read, while older settings stay in effect.
  private(set) var refused: VaultWarning?
  /// The reason why the vault must not be unlocked: no settings of its owner have been read yet.
  private(set) var obstacle: String?

  /// - Parameter doubt: the reason why the file was refused, if `configuration` is not what the owner wants.
  init(
    _ paths: Paths, _ configuration: Configuration, doubt: String?, _ log: Logger, wall: @escaping () -> Int64
  ) {
    (self.paths, self.log, self.wall) = (paths, log, wall)
    current = configuration
    if let doubt {
      obstacle = Self.obstacle(doubt)
      refused = VaultWarning(.settings, Self.obstacle(doubt), since: wall())
      log.error("\(Self.obstacle(doubt))")
    }
  }

  private static func obstacle(_ doubt: String) -> String {
    "the vault stays locked until its settings file is corrected; the file was refused: \(doubt)"
  }

  /// Reads the file and passes the settings to `apply`, with the names of the changed ones.
  ///
  /// - Throws: the reason why the file was refused, with the line. The settings then stay as they are.
  func readAgain(_ apply: (Configuration, [String]) -> Void) throws(Refusal) -> Change {
    let new: (settings: Configuration, isMissing: Bool)
    do throws(Daemon.Failure) { new = try Daemon.readSettings(paths) } catch {
      log.error("settings unchanged: \(error.text)")
      if obstacle != nil { obstacle = Self.obstacle(error.text) }
      let text = obstacle ?? "the old settings stay, because the file was refused: \(error.text)"
      refused = VaultWarning(.settings, text, since: wall())
      throw .misconfigured(text)
    }
    let names = new.settings.names(changedFrom: current)
    let isLater = Set(Configuration.readAtStart)
    // A setting that is read only at the start keeps its first value, however often the file changes.
    let started = current
    current = new.settings
    current.keepStarted(from: started)
    (refused, obstacle) = (nil, nil)
    apply(new.settings, names.filter { !isLater.contains($0) })
    log.info("settings reloaded")
    return Change(
      path: paths.config, isMissing: new.isMissing, changed: names.filter { !isLater.contains($0) },
      later: names.filter(isLater.contains))
  }
}

extension Configuration {
  /// The settings that are read only when the daemon starts.
  static let readAtStart = ["log-level"]

  fileprivate mutating func keepStarted(from started: Configuration) { logLevel = started.logLevel }

  /// The names of the settings that differ, in the order of ``keys``.
  func names(changedFrom old: Configuration) -> [String] { Self.keys.filter { !isSame($0, in: old) } }

  private func isSame(_ key: String, in other: Configuration) -> Bool {
    switch key {
    case "idle": vault.idle == other.vault.idle
    case "maximum-age": vault.maximumAge == other.vault.maximumAge
    case "trash": vault.trash == other.vault.trash
    case "audit": vault.audit.mode == other.vault.audit.mode
    case "audit-size": vault.audit.size == other.vault.audit.size
    case "audit-age": vault.audit.age == other.vault.audit.age
    case "hide-names": vault.hideNames == other.vault.hideNames
    case "keep-across-sleep": vault.keepAcrossSleep == other.vault.keepAcrossSleep
    case "boot-key": vault.bootKey == other.vault.bootKey
    case "tpm2-device": tpm2Device == other.tpm2Device
    case "keyring-bus-name": keyringBusName == other.keyringBusName
    case "pam-service": vault.pamService == other.vault.pamService
    case "max-connections": maxConnections == other.maxConnections
    case "max-requests-per-second": maxRequestsPerSecond == other.maxRequestsPerSecond
    case "ssh-agent": sshAgent == other.sshAgent
    case "secret-service": secretService == other.secretService
    case "secret-service-accessible": vault.keyring.accessible == other.vault.keyring.accessible
    case "secret-service-share": vault.keyring.shares == other.vault.keyring.shares
    case "secret-service-patience": vault.keyring.limits == other.vault.keyring.limits
    case "log-level": logLevel == other.logLevel
    // A setting that is missing here would look changed each time, which a test notices.
    default: false
    }
  }
}

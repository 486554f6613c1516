internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SecretServiceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret-service",
    abstract: "Have desktop programs keep their keys in this vault.",
    discussion: """
      Programs that keep their keys in GNOME Keyring or in another Secret Service then find this vault instead, and \
      need no change. See vault-secret-service(7).
      """,
    subcommands: [
      SecretServiceStatusCommand.self, SecretServiceEnableCommand.self, SecretServiceDisableCommand.self,
    ],
    defaultSubcommand: SecretServiceStatusCommand.self)
}

/// The part that `enable` and `disable` have in common.
enum SecretService {
  /// The daemon's account of its Secret Service.
  ///
  /// - Throws: ``Failure`` also if there is no vault.
  static func standing(_ session: Session, reloads: Bool = false) throws(Failure) -> Wire.SecretServiceReply {
    try session.call { vault in try vault.secretService(reload: reloads) }
  }

  /// The folders of the desktop's files, for a command that changes them.
  ///
  /// - Throws: ``Failure`` for any vault but the user's own at its usual place, because the files do not concern it.
  static func files(_ session: Session) throws(Failure) -> DesktopFiles {
    if session.isSystem { throw systemHasNone }
    guard session.isOwn else {
      throw Failure(
        .usage, "the settings of the vault at another socket are not known here", "leave --socket and VAULT_SOCKET out")
    }
    guard let files = DesktopFiles() else {
      throw Failure(.configuration, "HOME is not set", "set it to an absolute path")
    }
    return files
  }

  static let systemHasNone = Failure(
    .usage, "the machine's vault has no session bus, and so no Secret Service", "leave --system out")

  /// Has the daemon read its settings; returns the path of their file.
  @discardableResult
  static func reload(_ session: Session) throws(Failure) -> String {
    try session.call { vault in
      do { return try vault.reload().file } catch ClientError.fault(.misconfigured(let reason)) {
        throw Failure(settings: reason)
      }
    }
  }

  /// The program that owns the name, in words.
  static func text(_ owner: Wire.BusOwner) -> String {
    "process \(owner.pid)" + (owner.program.map { " (\(Printable.text($0)))" } ?? "")
  }
}

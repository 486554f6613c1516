internal import ArgumentParser

/// The formats that `vault export` writes.
enum TransferFormat: String, ExpressibleByArgument, CaseIterable {
  /// Another keyring on the session bus.
  case secretService = "secret-service"
}

/// The formats that `vault import` reads. The program `vault-import` knows all of them but the first.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
  /// Another keyring on the session bus.
  case secretService = "secret-service"
  case kdbx
  case pass
  case bitwarden
  case otpauthMigration = "otpauth-migration"
  case otpauth
  case csv
}

/// The options of commands that move many items.
struct TransferOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The keyring's name on the session bus, instead of SECRET_SERVICE_BUS_NAME or org.freedesktop.secrets.",
      valueName: "name"))
  var busName: String?

  @Flag(help: "Only show what would be done.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var yes = false

  func validate() throws {
    if dryRun && yes { throw ValidationError("--dry-run does nothing that --yes could allow; give one of them") }
    if busName?.isEmpty == true { throw ValidationError("--bus-name is empty; give a name, or leave --bus-name out") }
  }

  /// Begins a session with the caller's own vault, which alone has a keyring.
  func session(_ globals: Globals) throws(Failure) -> Session {
    let session = try Session(globals)
    if session.isSystem { throw Failure(.usage, "the machine's vault has no keyring", "leave --system out") }
    return session
  }
}

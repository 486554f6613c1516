internal import VaultProcess

/// The command line of `vaultd`.
struct Options: Equatable {
  /// True to serve the machine's vault: `/var/lib/vault`, `/run/vault/socket`, `/etc/vault/vaultd.conf`.
  var system = false
  var store: String?
  var socket: String?
  var config: String?
  /// The place of the log.
  var log = LogPlace.Wanted.stderr
  /// True if the session bus started this daemon. If another daemon already serves the vault, that daemon gets the bus.
  var isActivated = false
  /// True to read the settings and exit.
  var checksSettings = false
  /// A descriptor that gets a byte, and is closed, once the socket accepts connections.
  var readyDescriptor: Int32?

  enum Outcome: Equatable {
    case run(Options)
    /// Text for standard output, exit code 0.
    case answer(String)
    /// A usage error, exit code 64.
    case usage(String)
  }

  static let help = """
    usage: vaultd [--system] [--store DIR] [--socket PATH] [--config FILE] [--log PLACE]
                  [--ready-fd N] [--activated]
           vaultd [--system] [--config FILE] --check-settings

    The daemon of vault: holds the keys and the store, and serves items over a Unix socket.

      --system       serve the machine's vault instead of the user's
      --store DIR    the directory of the vault (default $XDG_DATA_HOME/vault)
      --socket PATH  the socket to listen on (default $XDG_RUNTIME_DIR/vault/socket)
      --config FILE  the settings (default $XDG_CONFIG_HOME/vault/vaultd.conf)
      --log PLACE    where the log goes: stderr (the default), journal, file
                     ($XDG_STATE_HOME/vault/log), or auto: the journal if there is one,
                     else the file
      --check-settings
                     check the settings, print what is wrong with them, and exit
      --ready-fd N   write a byte to descriptor N when the socket is ready
      --activated    started by the session bus for the Secret Service: if another
                     vaultd serves the vault, have it join that bus, and exit
      --version      print the version
      --help         print this text

    See vaultd(8).

    """

  static func parse(_ arguments: [String]) -> Outcome {
    var options = Options()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      var name = argument
      var inline: String?
      if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
        name = String(argument[..<equals])
        inline = String(argument[argument.index(after: equals)...])
      }
      switch name {
      case "--help", "-h": return .answer(help)
      case "--version": return .answer("vaultd \(ProgramVersion.text)\n")
      case "--system":
        guard inline == nil else { return .usage("--system takes no value") }
        options.system = true
      case "--activated":
        guard inline == nil else { return .usage("--activated takes no value") }
        options.isActivated = true
      case "--check-settings":
        guard inline == nil else { return .usage("--check-settings takes no value") }
        options.checksSettings = true
      case "--store", "--socket", "--config", "--log", "--ready-fd":
        guard let value = inline ?? rest.popFirst(), !value.isEmpty else { return .usage("\(name) needs a value") }
        if let problem = options.take(name, value) { return .usage(problem) }
      default: return .usage("unknown argument `\(argument)`")
      }
    }
    if options.isActivated, options.system { return .usage("--activated and --system exclude each other") }
    return .run(options)
  }

  private mutating func take(_ name: String, _ value: String) -> String? {
    switch name {
    case "--store": store = value
    case "--socket": socket = value
    case "--config": config = value
    case "--log":
      guard let place = LogPlace.Wanted(rawValue: value) else {
        return "--log is one of \(LogPlace.Wanted.allCases.map(\.rawValue).joined(separator: ", "))"
      }
      log = place
    default:
      guard let descriptor = Int32(value), descriptor > 2 else { return "--ready-fd needs a descriptor above 2" }
      readyDescriptor = descriptor
    }
    return nil
  }
}

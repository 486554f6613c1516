internal import CLinux
internal import CSystemd
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import VaultCore
internal import VaultModel
internal import VaultProcess
internal import VaultService

/// The program `vaultd`, from its command line to its exit code.
public enum Daemon {
  /// The exit codes of `vaultd` (sysexits.h).
  enum Exit {
    static let ok: Int32 = 0
    static let usage: Int32 = 64
    static let unavailable: Int32 = 69
    static let software: Int32 = 70
    static let taken: Int32 = 73
    static let input: Int32 = 74
    static let configuration: Int32 = 78
  }

  /// The reason why the daemon does not start.
  struct Failure: Error {
    var code: Int32
    var text: String
  }

  /// The variables whose values name files.
  private static let pathVariables: [StaticString] = [
    "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "CREDENTIALS_DIRECTORY",
    "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
  ]

  /// Runs until a signal ends the daemon; returns the exit code.
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments.first == LastWords.argument { return LastWords.goOn(Array(arguments.dropFirst())) }
    if let problem = StartText.problem(pathVariables) {
      let isUsage = if case .argument = problem { true } else { false }
      return complain(Failure(code: isUsage ? Exit.usage : Exit.configuration, text: problem.text("vaultd(8)")))
    }
    switch Options.parse(arguments) {
    case .answer(let text): return StandardStream.answer("vaultd", text)
    case .usage(let problem): return complain(Failure(code: Exit.usage, text: "\(problem); see vaultd --help"))
    case .run(let options):
      do throws(Failure) {
        try run(options)
      } catch {
        return complain(error)
      }
    }
  }

  private static func complain(_ failure: Failure) -> Int32 {
    StandardError.write(failure.text)
    return failure.code
  }

  private static func run(_ options: Options) throws(Failure) -> Never {
    do throws(SystemError) { try Hardening.apply() } catch { throw Failure(code: Exit.software, text: "\(error)") }
    OpenFiles.closeOthers(but: options.readyDescriptor)
    let openFiles = try OpenFiles.raise()
    let paths: Paths
    let environment = options.isActivated ? BusHandover.environment : Paths.environment
    do throws(Paths.Missing) { paths = try Paths(options: options, environment: environment) } catch {
      throw Failure(code: Exit.configuration, text: error.reason)
    }
    if options.system, !options.checksSettings { try checkAccount() }
    if !options.system { try checkFolders(options) }
    let (configuration, doubt) = try settings(paths, options)
    if options.checksSettings { exit(Exit.ok) }
    if options.isActivated {
      guard configuration.secretService else { throw BusHandover.isOff(paths) }
      if try BusHandover(paths).run(options) { exit(Exit.ok) }
    }
    let signals: SignalWatch
    let sockets: Sockets
    let directory: SocketDirectory?
    do {
      signals = try SignalWatch()
      if let inherited = try Sockets.inherited() {
        sockets = inherited
        directory = nil
      } else {
        if let problem = paths.socketProblem { throw Failure(code: Exit.configuration, text: problem) }
        let own = try SocketDirectory(path: paths.runtime)
        for path in paths.sockets { try own.clear(socket: path) }
        sockets = try Sockets.bound(paths)
        directory = consume own
      }
    } catch let error as Failure {
      throw error
    } catch SocketDirectory.Problem.taken where options.isActivated {
      // Another daemon is starting, or has started just now.
      if try BusHandover(paths).run(options, patience: BusHandover.patience) { exit(Exit.ok) }
      throw failure(SocketDirectory.Problem.taken, paths)
    } catch {
      throw failure(error, paths)
    }
    let running = Running(
      options: options, paths: paths, configuration: configuration, doubt: doubt, sockets: sockets, signals: signals,
      openFiles: openFiles, directory: consume directory)
    MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { loop in running.start(on: loop) }
    preconditionFailure("the loop ends with the process")
  }

  /// Refuses to serve the machine's vault as an account that only happens to have the name of the vault's own account.
  /// systemd-sysusers(8) uses an existing account of that name, and the owner of that account would then own the vault.
  private static func checkAccount() throws(Failure) {
    guard let account = Account.of(geteuid()), let problem = account.problemAsVault else { return }
    throw Failure(code: Exit.configuration, text: problem)
  }

  /// Refuses to make anything in a folder that the environment names and another user owns.
  private static func checkFolders(_ options: Options) throws(Failure) {
    var purposes: [ForeignFolder.Purpose] = []
    if options.socket == nil, !options.checksSettings { purposes.append(.sockets) }
    if options.store == nil { purposes.append(.store) }
    if options.config == nil { purposes.append(.settings) }
    switch options.log {
    case .file, .auto: purposes.append(.log)
    case .stderr, .journal: break
    }
    guard let foreign = ForeignFolder.first(for: purposes, environment: Paths.environment) else { return }
    let name = UserName.of(foreign.owner)
    throw Failure(code: Exit.configuration, text: "\(foreign.event(name)); \(foreign.remedy(name))")
  }

  /// Returns the settings for a start, and the reason why the file was refused if the daemon starts all the same.
  ///
  /// A daemon that the bus starts does not need the file, because programs that find no Secret Service may delete
  /// their data, and nobody sees why. It serves a vault that stays locked.
  private static func settings(
    _ paths: Paths, _ options: Options
  ) throws(Failure) -> (settings: Configuration, doubt: String?) {
    do throws(Failure) { return (try settings(paths), nil) } catch {
      guard options.isActivated, !options.checksSettings else { throw error }
      var configuration = Configuration()
      configuration.secretService = true
      return (configuration, error.text)
    }
  }

  /// Returns the settings in the file, or the defaults when there is no file.
  static func settings(_ paths: Paths) throws(Failure) -> Configuration { try readSettings(paths).settings }

  /// Returns the settings in the file, or the defaults, and true when there is no file.
  static func readSettings(_ paths: Paths) throws(Failure) -> (settings: Configuration, isMissing: Bool) {
    let text: String
    do throws(TextFile.Problem) { text = try TextFile.readOwn(paths.config, limit: 64 << 10) } catch {
      switch error {
      case .missing where !paths.configIsExplicit: return (Configuration(), true)
      case .missing:
        throw Failure(code: Exit.configuration, text: "\(SystemError(call: "open \(paths.config)", code: ENOENT))")
      case .refused(let reason): throw Failure(code: Exit.configuration, text: reason)
      }
    }
    do throws(Configuration.Problem) {
      // Only the machine's vault has no socket for SSH.
      return (try Configuration(parsing: text, isSystem: paths.sshSocket == nil), false)
    } catch {
      throw Failure(code: Exit.configuration, text: "\(paths.config), line \(error.line): \(error.reason)")
    }
  }

  private static func failure(_ error: any Error, _ paths: Paths) -> Failure {
    switch error {
    case SocketDirectory.Problem.taken:
      Failure(
        code: Exit.taken,
        text: "another vaultd serves \(paths.socket); stop it first, or name another socket with --socket")
    case SocketDirectory.Problem.unsafe(let text): Failure(code: Exit.configuration, text: text)
    case SocketDirectory.Problem.system(let error): Failure(code: Exit.input, text: "\(error)")
    default: Failure(code: Exit.input, text: "\(error)")
    }
  }
}

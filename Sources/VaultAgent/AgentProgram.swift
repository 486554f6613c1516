internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultProcess

/// The program `vault-agent`: attends a person's session, and puts the daemon's questions to that person.
public enum AgentProgram {
  static let name = "vault-agent"
  /// Exit codes (sysexits.h).
  private static let (usage, system, refused, configuration): (Int32, Int32, Int32, Int32) = (64, 71, 77, 78)

  /// Runs the program and returns its exit code (sysexits.h).
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] { return StandardStream.answer(name, help) }
    if arguments == ["--version"] { return StandardStream.answer(name, "\(name) \(ProgramVersion.text)\n") }
    let options: AgentOptions
    do throws(AgentOptions.Problem) { options = try AgentOptions(arguments) } catch {
      return complain(usage, "\(error.text); see \(name)(8)")
    }
    harden()
    let settings: AgentSettings
    do throws(AgentSettings.Problem) { settings = try AgentSettings.own().overridden(by: options) } catch {
      return complain(configuration, "\(error)")
    }
    let faces = Faces.make(settings)
    guard !faces.all.isEmpty else {
      return complain(
        configuration, "there is no way to ask a person: no terminal, no desktop, no pinentry, no command")
    }
    let obstacles = faces.obstacles
    guard obstacles.count < faces.all.count else {
      return complain(configuration, "there is no way to ask a person: \(obstacles.joined(separator: "; "))")
    }
    do throws(ClientError) {
      return attend(try places(options, settings), faces)
    } catch {
      if case .emptySocketPath = error { return complain(usage, "\(error); give the path of a socket") }
      return complain(configuration, "\(error)")
    }
  }

  private static let help = """
    usage: \(name) [--faces A,B] [--pinentry PATH] [--command PATH] [--socket PATH | --system]
           \(name) --version

    Asks a person the questions of vaultd(8). See \(name)(8).

    """

  private static func complain(_ code: Int32, _ text: String) -> Int32 {
    StandardStream.errors.complain(name, text)
    return code
  }

  private static func harden() {
    try? Confinement.begin()
    for number in [SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
  }

  /// The vaults to attend: the vault that the options name, or else the user's own vault and, unless a setting decides
  /// otherwise, the machine's vault if it exists.
  private static func places(
    _ options: AgentOptions, _ settings: AgentSettings
  ) throws(ClientError) -> [Attending.Place] {
    if options.isSystem { return [Attending.Place(location: .system, isSystem: true, isWanted: true)] }
    let own = try SocketLocation.user(explicit: options.socket)
    let first = Attending.Place(location: own, isSystem: own == .system, isWanted: true)
    if own == .system || options.socket != nil { return [first] }
    let isThere = unsafe access(SocketLocation.systemPath, F_OK) == 0
    guard settings.attendsSystem ?? isThere else { return [first] }
    return [first, Attending.Place(location: .system, isSystem: true, isWanted: settings.attendsSystem == true)]
  }

  /// Tells a person on a terminal which vaults are attended, because nothing else may come for hours.
  private static func announce(_ places: [Attending.Place]) {
    guard isatty(STDERR_FILENO) == 1 else { return }
    let vaults = places.map { "the vault at \(Printable.text($0.location.path))" }.joined(separator: " and ")
    StandardStream.errors.complain(name, "attends \(vaults); control-C ends it")
  }

  private static func attend(_ places: [Attending.Place], _ faces: Faces) -> Int32 {
    announce(places)
    // The signals are blocked before there is another thread, because this thread waits for them.
    var ending = sigset_t()
    unsafe sigemptyset(&ending)
    for number in heard { unsafe sigaddset(&ending, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &ending, nil)
    let (queue, notices, end): (InquiryQueue, NoticeQueue, Withdrawal)
    do throws(Withdrawal.Errno) {
      (queue, notices, end) = (try InquiryQueue(), try NoticeQueue(), try Withdrawal())
    } catch {
      return complain(system, "eventfd: \(SystemText.of(error.code))")
    }
    let open = OpenStreams(places.count)
    var threads = places.map { place in
      WorkThread {
        Attending(place, faces.names, queue, notices, end).run()
        // When every vault refuses, there is nothing to wait for.
        if open.oneEnds() { kill(getpid(), SIGTERM) }
      }
    }
    threads.append(WorkThread { while let open = queue.take() { Asking(open, faces).run() } })
    threads.append(WorkThread { while let notice = notices.take() { faces.tell(notice) } })
    let hasThreads = threads.allSatisfy { $0 != nil }
    if hasThreads { awaitEnd(ending, faces.hush) }
    let isRefused = open.areNone
    end.raise()
    queue.close()
    notices.close()
    for thread in threads { thread?.join() }
    faces.hush.end()
    if !hasThreads { return complain(system, "cannot start a thread") }
    return isRefused ? refused : 0
  }

  /// The signals that end a program by default, and those with which a terminal or a shell stops and continues it.
  /// Signals that come from a program's own faults and signals that cannot be caught are left out.
  private static let heard =
    [
      SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGPOLL, SIGXCPU, SIGPWR,
      SIGSTKFLT, SIGTSTP, SIGCONT,
    ] + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())

  /// Waits for a signal that ends the program. When a signal stops the program, the shell gets the terminal in its
  /// earlier modes.
  private static func awaitEnd(_ signals: sigset_t, _ hush: TerminalHush) {
    var signals = signals
    while true {
      var number: Int32 = 0
      guard unsafe sigwait(&signals, &number) == 0 else { continue }
      switch number {
      case SIGTSTP:
        hush.pause()
        stop()
        hush.resume()
      case SIGCONT: hush.resume()
      default: return
      }
    }
  }

  /// Stops the program as SIGTSTP does by default. Without a shell that could continue the program, the signal stops
  /// nothing.
  private static func stop() {
    var one = sigset_t()
    unsafe sigemptyset(&one)
    unsafe sigaddset(&one, SIGTSTP)
    unsafe pthread_sigmask(SIG_UNBLOCK, &one, nil)
    raise(SIGTSTP)
    unsafe pthread_sigmask(SIG_BLOCK, &one, nil)
  }
}

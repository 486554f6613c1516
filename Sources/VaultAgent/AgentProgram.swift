internal import CLinux
internal import Glibc
internal import VaultClient
internal import VaultProcess

/// The program `vault-agent`: attends a person's session, and puts the daemon's questions to the person.
public enum AgentProgram {
  private static let name = "vault-agent"
  private static let usage: Int32 = 64
  private static let system: Int32 = 71
  private static let configuration: Int32 = 78

  /// Runs the program; the answer is its exit code (sysexits.h).
  public static func main(_ arguments: [String]) -> Int32 {
    if arguments == ["--help"] {
      return StandardStream.answer(
        name,
        """
        usage: \(name) [--faces A,B] [--pinentry PATH] [--command PATH] [--socket PATH | --system]

        Puts the questions of vaultd(8) to a person. See \(name)(8).

        """)
    }
    let options: AgentOptions
    do throws(AgentOptions.Problem) { options = try AgentOptions(arguments) } catch {
      return complain(usage, "\(error.text); see \(name)(8)")
    }
    harden()
    let settings = FaceSettings(pinentry: options.pinentry, command: options.command)
    let faces = Faces.make(options.faces ?? Faces.usual(settings), settings)
    guard !faces.all.isEmpty else {
      return complain(configuration, "there is no way to ask a person: no terminal, no desktop and no pinentry")
    }
    do throws(ClientError) {
      let location = try options.isSystem ? SocketLocation.system : .user(explicit: options.socket)
      return attend(location, alsoSystem: options.socket == nil && !options.isSystem, faces)
    } catch {
      return complain(configuration, "\(error)")
    }
  }

  private static func complain(_ code: Int32, _ text: String) -> Int32 {
    StandardStream.errors.complain(name, text)
    return code
  }

  private static func harden() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    _ = vault_set_not_dumpable()
    for number in [SIGPIPE, SIGXFSZ, SIGTTIN, SIGTTOU] { signal(number, SIG_IGN) }
  }

  private static func attend(_ location: SocketLocation, alsoSystem: Bool, _ faces: Faces) -> Int32 {
    // Blocked before there is another thread: this one waits for them.
    var ending = sigset_t()
    unsafe sigemptyset(&ending)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { unsafe sigaddset(&ending, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &ending, nil)
    let (queue, end): (InquiryQueue, Withdrawal)
    do throws(Withdrawal.Errno) { (queue, end) = (try InquiryQueue(), try Withdrawal()) } catch {
      return complain(system, "eventfd: error \(error.code)")
    }
    var places = [(location, location == .system)]
    if alsoSystem, location != .system, unsafe access(SocketLocation.systemPath, F_OK) == 0 {
      places.append((.system, true))
    }
    var threads = places.map { place in
      WorkThread {
        Attending(location: place.0, isSystem: place.1, faces: faces, queue: queue, end: end).run()
      }
    }
    threads.append(WorkThread { while let open = queue.take() { Asking(open, faces).run() } })
    if threads.allSatisfy({ $0 != nil }) {
      var number: Int32 = 0
      while unsafe sigwait(&ending, &number) != 0 {}
    }
    end.raise()
    queue.close()
    for thread in threads { thread?.join() }
    return threads.allSatisfy { $0 != nil } ? 0 : complain(system, "there is no room for a thread")
  }
}

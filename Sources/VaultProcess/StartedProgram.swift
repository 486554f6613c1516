internal import CLinux
internal import Glibc

/// Another program that this one starts and that may outlive this one, so it inherits only what it is given. It has no
/// descriptors except those named here, `/` as its directory unless told otherwise, no blocked or ignored signals, and
/// the personality of a new process.
public struct StartedProgram: Sendable {
  /// The call that went wrong, and its error number.
  public struct Failure: Error, Equatable {
    public let call: String
    public let errno: Int32
  }

  /// The file behind one of the program's descriptors.
  public enum Descriptor: Sendable {
    /// A descriptor of this process. Its number must be above all the program's descriptors, as with ``pipe(for:)``, or
    /// must be the number that it gets in the program.
    case ours(Int32)
    /// A file that the program opens itself, with these flags. If the program has its own session, a terminal becomes
    /// its controlling terminal.
    case file(String, Int32)

    public static let null = Descriptor.file("/dev/null", O_RDWR)
  }

  /// The pid of the program, which is a child of this process.
  public let pid: Int32

  /// - Parameters:
  ///   - command: an absolute path and the program's arguments.
  ///   - environment: lines `NAME=value`; nil for this process's own environment.
  ///   - descriptors: the program's descriptors 0, 1 and so on, at least the three standard streams.
  ///   - hasOwnSession: true for a program that a Ctrl-C at this process's terminal must not reach.
  ///   - keepsDirectory: true for a program that a person uses, so that relative paths mean the same there as here.
  public init(
    _ command: [String], environment: [String]? = nil, descriptors: [Descriptor], hasOwnSession: Bool,
    keepsDirectory: Bool = false
  ) throws(Failure) {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    for (number, descriptor) in descriptors.enumerated() {
      switch descriptor {
      case .ours(let ours):
        unsafe posix_spawn_file_actions_adddup2(&actions, ours, Int32(number))
      case .file(let path, let flags):
        unsafe posix_spawn_file_actions_addopen(&actions, Int32(number), path, flags, 0o600)
      }
    }
    // Any other file that is open here, such as a lock that a script holds, would stay open for as long as the program
    // runs.
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))
    if !keepsDirectory { unsafe posix_spawn_file_actions_addchdir_np(&actions, "/") }
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // 0x80 is POSIX_SPAWN_SETSID, which glibc declares only for _GNU_SOURCE.
    let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (hasOwnSession ? 0x80 : 0)
    unsafe posix_spawnattr_setflags(&attributes, flags)
    // Each string is copied for the call and freed after it; the arrays end with a null pointer.
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var variables = unsafe (environment ?? []).map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe variables.indices { unsafe free(variables[index]) } }
    // The personality belongs to this thread and passes to the programs it starts. After setarch(1) it can turn off the
    // randomization of their addresses, so it is reset for the start.
    let personality = vault_personality()
    _ = vault_reset_personality()
    defer { if personality >= 0 { _ = vault_set_personality(personality) } }
    var pid: pid_t = 0
    // Nothing in this process changes its environment.
    let code = unsafe variables.withUnsafeMutableBufferPointer { lines in
      unsafe posix_spawn(
        &pid, command[0], &actions, &attributes, &arguments, environment == nil ? environ : lines.baseAddress!)
    }
    guard code == 0 else { throw Failure(call: "start \(command[0])", errno: code) }
    self.pid = pid
  }

  /// Makes a pipe whose ends have numbers of at least `count`, so that neither end collides with the program's own
  /// descriptors.
  public static func pipe(for count: Int) throws(Failure) -> (read: Int32, write: Int32) {
    var low: [Int32] = [-1, -1]
    guard unsafe pipe2(&low, O_CLOEXEC) == 0 else { throw Failure(call: "pipe", errno: errno) }
    let read = fcntl(low[0], F_DUPFD_CLOEXEC, CInt(count))
    let write = read < 0 ? -1 : fcntl(low[1], F_DUPFD_CLOEXEC, CInt(count))
    let code = errno
    for descriptor in low { close(descriptor) }
    guard write >= 0 else {
      if read >= 0 { close(read) }
      throw Failure(call: "pipe", errno: code)
    }
    return (read, write)
  }
}

/// The exit codes of `vault`: those of sysexits.h and, for a program that `vault` runs, those of shells.
enum Exit: Int32, Sendable {
  /// The command line is wrong.
  case usage = 64
  /// The store or the input is corrupt or not valid.
  case invalid = 65
  /// There is no such item, version, slot or deposit.
  case missing = 66
  /// There is no daemon.
  case unavailable = 69
  /// The daemon or the client did what it must not.
  case software = 70
  /// The system does not provide a resource that every program needs.
  case system = 71
  /// The item or file already exists.
  case exists = 73
  /// Reading or writing failed.
  case io = 74
  /// The vault is locked, or the time is up: the command may work later.
  case retry = 75
  /// The caller was denied, or authentication failed.
  case denied = 77
  /// A part of the system must be set up first.
  case configuration = 78
  /// The program to run exists but cannot be run; the code is that of shells.
  case notRunnable = 126
  /// There is no program of that name; the code is that of shells.
  case noProgram = 127
}

/// The reason why a command failed, for its user to read. Lower case, no secret, no final period.
struct Failure: Error, Equatable {
  let exit: Exit
  let event: String
  /// The advice for the next step.
  let advice: String?
  /// The missing item, if that is the reason.
  var missing: MissingItem?
  /// True if a disk or a quota is full.
  var isOfFullDisk = false
  /// Names to show below the message, each on its own line.
  var names: [String] = []

  init(_ exit: Exit, _ event: String, _ advice: String? = nil) {
    self.exit = exit
    self.event = event
    self.advice = advice
  }

  /// The event and the advice in one sentence.
  var message: String { Sentence.joined(event, advice) }
}

/// The exit codes of `vault`, which are those of sysexits.h, and of the shells where it runs a program.
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
  /// The system does not give what every program needs.
  case system = 71
  /// It is there already.
  case exists = 73
  /// Reading or writing failed.
  case io = 74
  /// Locked, or the time is up: later it may work.
  case retry = 75
  /// Denied, or authentication failed.
  case denied = 77
  /// Something has to be set up first.
  case configuration = 78
  /// The program that was to be run is there and cannot be, as shells say it.
  case notRunnable = 126
  /// There is no program of that name, as shells say it.
  case noProgram = 127
}

/// The reason why a command did not do what it was asked to, as its user reads it. Lower case, no secret, no final stop.
struct Failure: Error, Equatable {
  let exit: Exit
  let event: String
  /// Advice what to do next.
  let advice: String?
  /// The item that is not there, where that is the reason.
  var missing: MissingItem?
  /// Names that are shown below the message, each on a line of its own.
  var names: [String] = []

  init(_ exit: Exit, _ event: String, _ advice: String? = nil) {
    self.exit = exit
    self.event = event
    self.advice = advice
  }

  /// Both in one sentence.
  var message: String { Sentence.joined(event, advice) }
}

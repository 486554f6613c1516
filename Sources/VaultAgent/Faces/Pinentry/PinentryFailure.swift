/// The errors with which a pinentry answers, in words. Their numbers are those of libgpg-error: the source in bits 24
/// to 30, and the code in the lower 16 bits, in which bit 15 stands for an error of the system.
enum PinentryFailure {
  /// Says why pinentry has failed, and what to do.
  static func text(_ error: UInt32) -> String {
    guard let (reason, advice) = words(error & 0xFFFF) else {
      return "pinentry failed (error \(error)); `gpg-error \(error)` says why"
    }
    return "pinentry failed: \(reason) (error \(error)); \(advice)"
  }

  private static func words(_ code: UInt32) -> (String, String)? {
    let other = "name another one with --pinentry, see vault-agent(8)"
    return switch code {
    case 1: ("it gives no reason", other)
    case 59, 63, 86: ("it has a fault of its own", other)
    case 60, 69, 174, 175, 275: ("it does not know what it was asked", other)
    case 85: ("it finds no program that asks", other)
    case 301: ("its window or terminal is too small", "make that larger")
    case 0x8001: ("it may not use its terminal or display", other)
    // Input/output error, no such device, no such file, not a terminal, and no such device or address.
    case 0x8031, 0x8050, 0x8051, 0x8066, 0x8068:
      ("it finds no terminal to ask on", "run the agent on a terminal, or \(other)")
    case 0x8056: ("it has no memory left", "end other programs")
    default: nil
    }
  }
}

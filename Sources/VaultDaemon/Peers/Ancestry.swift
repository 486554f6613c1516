internal import Glibc
internal import VaultModel
internal import VaultService

/// The terminal of a process and the chain of its parents, by which people recognize it. This is only advice, because a
/// process can choose its own name.
enum Ancestry {
  /// The most processes in the chain.
  private static let most = 8

  /// Reads the facts from `/proc`; there are none for a process that is gone.
  static func of(_ pid: pid_t) -> (terminal: String?, chain: [String]) {
    var chain: [String] = []
    var terminal: String?
    var next = pid
    while next > 0, chain.count < most, let (name, parent, device) = look(at: next) {
      if chain.isEmpty { terminal = path(ofTerminal: device) }
      chain.append(name)
      next = parent
    }
    return (terminal, chain)
  }

  /// The name of a process, its parent and the device of its terminal: fields 2, 4 and 7 of `/proc/PID/stat` (proc(5)).
  private static func look(at pid: pid_t) -> (name: String, parent: pid_t, device: UInt32)? {
    guard let text = ProcFile.read("/proc/\(pid)/stat"), let start = text.firstIndex(of: UInt8(ascii: "(")),
      let end = text.lastIndex(of: UInt8(ascii: ")")), start < end
    else { return nil }
    let fields = String(decoding: text[(end + 1)...], as: UTF8.self).split(separator: " ")
    guard fields.count > 4, let parent = pid_t(fields[1]), let device = Int32(fields[4]) else { return nil }
    let name = String(decoding: text[(start + 1)..<end], as: UTF8.self)
    return (Printable.line(name), parent, UInt32(bitPattern: device))
  }

  /// The path of a terminal by its device number; nil for no terminal, and for a kind that people do not sit at.
  static func path(ofTerminal device: UInt32) -> String? {
    let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
    switch major {
    case 4 where minor < 64: return "/dev/tty\(minor)"
    case 4: return "/dev/ttyS\(minor - 64)"
    case 136...143: return "/dev/pts/\((major - 136) << 20 | minor)"
    default: return nil
    }
  }
}

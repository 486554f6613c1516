internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The place to which an export goes.
enum ExportTarget {
  case file(String)
  /// Standard output, which is no terminal.
  case output

  /// Throws unless the export can go there.
  func check() throws(Failure) {
    switch self {
    case .file(let path):
      do throws(Failure) { try NewFile.check(path, replaces: false) } catch {
        guard error.exit == .exists else { throw error }
        throw Failure(.exists, error.event, "an export replaces no file; give another name")
      }
    case .output:
      guard Output.isTerminal else { return }
      throw Failure(
        .usage, "an export is not for a terminal, which may keep what it shows",
        "name a new file with --output, or redirect standard output")
    }
  }

  /// Writes with `body`. A file gets its name only when all of it is on the disk; if `body` fails, nothing remains.
  func write(_ body: ((borrowing SecretBuffer) throws(Failure) -> Void) throws -> Void) throws {
    switch self {
    case .file(let path):
      try NewFile.write(path, replaces: false) { file, cancellation in
        try body { bytes throws(Failure) in
          try bytes.withBytes { bytes throws(Failure) in try file.write(bytes) }
        }
        var polled = pollfd(fd: cancellation, events: Int16(POLLIN), revents: 0)
        if unsafe poll(&polled, 1, 0) > 0 { throw Failure(Fault.cancelled) }
      }
    case .output:
      try body { bytes throws(Failure) in
        try bytes.withBytes { bytes throws(Failure) in try Output.write(bytes) }
      }
      try Output.awaitTaken()
    }
  }
}

internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultWire

/// An environment for another program: this process's environment, in which the variables replace others of the same
/// name.
struct EnvironmentBlock: ~Copyable {
  /// The lines `NAME=value`, each with a NUL at its end.
  private var lines = SecretBuffer()
  private var starts: [Int] = []
  private let names: Set<[UInt8]>

  init(_ variables: borrowing Variables, _ fetched: borrowing FetchedItems) {
    names = Set(variables.entries.map { Array($0.name.utf8) })
    for entry in variables.entries {
      starts.append(lines.count)
      lines.append(utf8: entry.name)
      lines.append(UInt8(ascii: "="))
      variables.withValue(of: entry, fetched) { lines.append($0) }
      lines.append(0)
    }
  }

  /// Makes this the environment of the process while `body` runs, so that a program that `body` starts is found in this
  /// environment's `PATH` and inherits this environment.
  borrowing func use<R>(_ body: () -> R) -> R {
    lines.withBytes { bytes in
      // The pointers lead into this buffer and into the environment that the kernel passed; both outlive `body`.
      unsafe bytes.withUnsafeBytes { bytes in
        var pointers = unsafe inherited()
        for start in starts {
          let line = unsafe bytes.baseAddress!.advanced(by: start).assumingMemoryBound(to: CChar.self)
          unsafe pointers.append(UnsafeMutablePointer(mutating: line))
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeMutableBufferPointer { pointers in
          let earlier = unsafe vault_set_environment(pointers.baseAddress)
          defer { _ = unsafe vault_set_environment(earlier) }
          return body()
        }
      }
    }
  }

  private func inherited() -> [UnsafeMutablePointer<CChar>?] {
    var kept: [UnsafeMutablePointer<CChar>?] = unsafe []
    var next = unsafe environ
    while let line = unsafe next.pointee {
      if !names.contains(unsafe Self.name(of: line)) { unsafe kept.append(line) }
      unsafe next += 1
    }
    return unsafe kept
  }

  /// - Parameter line: a line that ends with a NUL.
  private static func name(of line: UnsafePointer<CChar>) -> [UInt8] {
    var name: [UInt8] = []
    var next = unsafe line
    while unsafe next.pointee != 0, unsafe next.pointee != CChar(UInt8(ascii: "=")) {
      name.append(UInt8(bitPattern: unsafe next.pointee))
      unsafe next += 1
    }
    return name
  }
}

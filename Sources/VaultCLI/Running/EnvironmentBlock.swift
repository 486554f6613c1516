internal import CLinux
internal import Glibc
internal import VaultWire

/// An environment for another program: this one's, and the variables in the place of those of their names.
struct EnvironmentBlock: ~Copyable {
  /// `NAME=value` with a NUL behind each.
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

  /// Makes it this process's own, so that the next program is looked for on its `PATH` and gets it, for the time of `body`.
  borrowing func use<R>(_ body: () -> R) -> R {
    lines.withBytes { bytes in
      // The pointers lie in this buffer and in the environment that the kernel gave, and both outlive `body`.
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

  /// - Parameter line: ends with a NUL.
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

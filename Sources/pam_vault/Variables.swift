import CLinux
import CPAM

/// The environment for a daemon in the coming session: those of the variables set by PAM's modules that a daemon takes
/// over, and others that a daemon needs.
struct Variables: ~Copyable {
  private var texts: WipedBytes
  private let pointers: WipedBytes
  private var count = 0

  /// Makes an empty list; nil when there is no memory.
  init?() {
    guard let texts = WipedBytes(), let pointers = WipedBytes() else { return nil }
    self.texts = texts
    self.pointers = pointers
  }

  /// The variables, each `NAME=value`, with nil after the last: fresh memory is all zero.
  var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    unsafe pointers.raw.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
  }

  /// Adds those of PAM's variables that a daemon needs.
  mutating func add(_ pamh: OpaquePointer) {
    guard let set = unsafe pam_getenvlist(pamh) else { return }
    var index = 0
    while let variable = unsafe set[index] {
      if unsafe DaemonVariables.pass(variable) {
        let start = begin()
        unsafe texts.append(string: variable)
        if let text = unsafe end(start) { unsafe append(text) }
      }
      unsafe free(variable)
      index += 1
    }
    unsafe free(set)
  }

  /// Adds the variable `name` (with its `=`) unless it is set already.
  mutating func addMissing(_ name: StaticString, _ value: UnsafePointer<CChar>?) {
    guard let value = unsafe value, unsafe self.value(of: name) == nil else { return }
    let start = begin()
    texts.append(name)
    unsafe texts.append(string: value)
    if let text = unsafe end(start) { unsafe append(text) }
  }

  /// Adds `XDG_RUNTIME_DIR` unless it is set already: `prefix` begins its text, and `number` ends it.
  mutating func addMissing(_ prefix: StaticString, number: UInt32) {
    guard unsafe value(of: "XDG_RUNTIME_DIR=") == nil else { return }
    let start = begin()
    texts.append(prefix)
    texts.append(decimal: number)
    if let text = unsafe end(start) { unsafe append(text) }
  }

  /// The absolute path in the variable `name`, with `rest` after it.
  mutating func path(_ name: StaticString, _ rest: StaticString) -> UnsafePointer<CChar>? {
    // The XDG specification says to ignore a relative path.
    guard let value = unsafe value(of: name), unsafe value[0] == 47 else { return nil }
    let start = begin()
    unsafe texts.append(string: value)
    texts.append(rest)
    return unsafe end(start).map { unsafe UnsafePointer($0) }
  }

  /// The value of the variable `name`, which includes its `=`.
  private func value(of name: StaticString) -> UnsafePointer<CChar>? {
    var index = 0
    while let variable = unsafe list[index] {
      if unsafe DaemonVariables.begins(variable, name) {
        return unsafe UnsafePointer(variable + name.utf8CodeUnitCount)
      }
      index += 1
    }
    return nil
  }

  private func begin() -> Int { texts.count }

  /// Ends the text that begins at `start`; nil when it did not fit.
  private mutating func end(_ start: Int) -> UnsafeMutablePointer<CChar>? {
    texts.append(UInt8(0))
    return texts.isBroken ? nil : unsafe (texts.raw + start).assumingMemoryBound(to: CChar.self)
  }

  private mutating func append(_ variable: UnsafeMutablePointer<CChar>) {
    // The last place stays nil.
    guard unsafe count + 1 < pointers.room / MemoryLayout<UnsafeMutablePointer<CChar>?>.stride else { return }
    unsafe list[count] = variable
    count += 1
  }
}

extension WipedBytes {
  fileprivate mutating func append(decimal number: UInt32) {
    var divisor: UInt32 = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(48 + number / divisor % 10))
      divisor /= 10
    }
  }
}

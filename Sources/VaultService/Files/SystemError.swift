internal import Glibc

/// A system call that failed.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package let call: String
  /// The value of `errno`.
  package let code: Int32

  package init(call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package var description: String {
    // The answer of strerror is copied at once; no other thread of the daemon calls it.
    guard let text = unsafe strerror(code) else { return "\(call): error \(code)" }
    return "\(call): \(unsafe String(cString: text))"
  }

  /// Passes a result through, and throws the error in `errno` if the result is negative.
  @discardableResult
  package static func check(_ call: String, _ result: Int32) throws(SystemError) -> Int32 {
    guard result >= 0 else { throw SystemError(call: call) }
    return result
  }
}

@testable import VaultService

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzBackoff(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    if let text = unsafe String(validating: bytes, as: UTF8.self) { exerciseBackoff(text, now: bootTimes[count & 1]) }
    return 0
  }
#endif

/// The times of the trials in nanoseconds: shortly after the start of the machine, and a year later.
let bootTimes: [Int64] = [1_000_000_000, 31_536_000_000_000_000]

/// Reads any text as the file of failed attempts. No caller may have to wait longer than the longest time, a further
/// attempt must be counted, and the text written from the result must read the same.
@discardableResult
func exerciseBackoff(_ text: String, now: Int64) -> Backoff {
  let backoff = Backoff(parsing: text, bootID: "this", now: now)
  let callers = Array(backoff.failures.keys.prefix(1)) + [Backoff.Source(uid: 77, method: "unheard")]
  for caller in callers {
    guard (0...Backoff.longest * 1_000_000_000).contains(backoff.wait(for: caller, now: now)) else {
      fatalError("\(caller) waits too long")
    }
    var next = backoff
    let seconds = next.charge(caller, now: now)
    guard (1...Backoff.longest).contains(seconds), next.wait(for: caller, now: now) == seconds * 1_000_000_000 else {
      fatalError("\(caller) waits \(seconds) s after another attempt")
    }
  }
  let again = Backoff(parsing: backoff.text(bootID: "this"), bootID: "this", now: now)
  if again != backoff { fatalError("written down and read, it is another") }
  return backoff
}

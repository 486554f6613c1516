import VaultModel

@testable import VaultDaemon
@testable import VaultService

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzConfiguration(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    // Bytes that are not UTF-8 are refused before they are read as settings.
    if let text = unsafe String(validating: bytes, as: UTF8.self) { _ = exerciseConfiguration(text) }
    return 0
  }
#endif

/// Reads any text as `vaultd.conf`. Either it is refused at a line that exists, with a printable reason, or it gives
/// settings within their limits, the same each time, from which deadlines follow. Returns true if it was read.
func exerciseConfiguration(_ text: String) -> Bool {
  let settings: Configuration
  do throws(Configuration.Problem) { settings = try Configuration(parsing: text) } catch {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count
    guard (1...lines).contains(error.line), !error.reason.isEmpty, Printable.isPlain(error.reason)
    else { fatalError("line \(error.line): \(error.reason)") }
    return false
  }
  let now: Int64 = 1_000_000_000
  var policy = LockPolicy(idleAfter: settings.vault.idle, maximumAge: settings.vault.maximumAge)
  policy.unlocked(at: now, for: nil)
  guard policy.next.map({ $0.at > now }) ?? (settings.vault.idle == nil && settings.vault.maximumAge == nil),
    Configuration.connectionLimits.contains(settings.maxConnections),
    (10...10_000_000).contains(settings.maxRequestsPerSecond), settings.vault.bootKey?.place != "",
    settings.vault.bootKey == settings.vault.bootKey.flatMap({ BootKey(setting: $0.place) })
  else { fatalError("settings beyond their limits: \(settings)") }
  if (try? Configuration(parsing: text)) != settings { fatalError("a text has two meanings") }
  return true
}

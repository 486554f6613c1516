/// The part of swift-log that the settings use, because the fuzzers are compiled without packages.
public struct Logger {
  public enum Level: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }
}

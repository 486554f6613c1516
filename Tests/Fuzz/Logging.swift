/// The part of swift-log that the settings and a door use, because the fuzzers are compiled without packages.
public struct Logger {
  public enum Level: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  public init() {}

  public func info(_ text: @autoclosure () -> String) {}
  public func error(_ text: @autoclosure () -> String) {}
}

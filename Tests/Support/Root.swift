import Foundation
import Glibc

/// Whether what needs root can be tested.
public enum Root {
  /// True for root, and wherever nothing may be skipped (`CI=true`): there a test that cannot do without fails.
  public static let isAtHand = geteuid() == 0 || ProcessInfo.processInfo.environment["CI"] == "true"
}

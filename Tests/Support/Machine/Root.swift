import Foundation
import Glibc

/// The permission to run the tests that need root.
public enum Root {
  /// True for root, and where no test may be skipped (`CI=true`): there, a test that needs root fails without it.
  public static let isAtHand = geteuid() == 0 || ProcessInfo.processInfo.environment["CI"] == "true"
}

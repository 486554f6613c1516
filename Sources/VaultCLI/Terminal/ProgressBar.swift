internal import VaultModel

/// A bar for the progress of work whose size is known.
struct ProgressBar: ~Copyable {
  private static let width = 30

  private let what: String
  private let total: Int
  private let progress = Progress()
  /// The percentage that was drawn last; drawing more often would only cost time.
  private var shown = -1

  /// - Parameters:
  ///   - what: the work, in one or two words.
  ///   - total: the amount of the work, in bytes.
  init(_ what: String, of total: Int) {
    self.what = what
    self.total = max(1, total)
  }

  deinit { progress.clear() }

  /// Shows the progress, once the work has taken longer than a second.
  mutating func show(_ done: Int) {
    let percent = Int(100 * Self.share(done, of: total))
    guard percent != shown else { return }
    shown = percent
    progress.show(Self.text(what, done, of: total, " of \(Counted.size(total))"))
  }

  /// Returns the bar as text, with `detail` after the percentage.
  static func text(_ what: String, _ done: Int, of total: Int, _ detail: String) -> String {
    let share = share(done, of: total)
    let filled = Int(share * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "\(what) [\(bar)] \(Int(100 * share)) %\(detail)"
  }

  /// Returns the share that is done, 0 to 1, whatever the numbers are.
  static func share(_ done: Int, of total: Int) -> Double { min(1, Double(max(0, done)) / Double(max(1, total))) }
}

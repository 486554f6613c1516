/// The progress of something whose size is known, as a bar.
struct ProgressBar: ~Copyable {
  private static let width = 30

  private let what: String
  private let total: Int
  private let progress = Progress()
  /// In per cent; drawing more often would only cost time.
  private var shown = -1

  /// - Parameters:
  ///   - what: what is being done, in one or two words.
  ///   - total: how much there is of it, in bytes.
  init(_ what: String, of total: Int) {
    self.what = what
    self.total = max(1, total)
  }

  deinit { progress.clear() }

  /// Shows how far it is, once it has taken longer than a second.
  mutating func show(_ done: Int) {
    let percent = Int(100 * Self.share(done, of: total))
    guard percent != shown else { return }
    shown = percent
    progress.show(Self.text(what, done, of: total, " of \(Sizes.text(total))"))
  }

  /// The bar as text, with what follows the per cents.
  static func text(_ what: String, _ done: Int, of total: Int, _ detail: String) -> String {
    let share = share(done, of: total)
    let filled = Int(share * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "\(what) [\(bar)] \(Int(100 * share)) %\(detail)"
  }

  /// The part of it that is done, 0 to 1, whatever the numbers are.
  static func share(_ done: Int, of total: Int) -> Double { min(1, Double(max(0, done)) / Double(max(1, total))) }
}

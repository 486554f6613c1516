/// How far something is whose size is known, as a bar.
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
    let percent = Int(Double(done) / Double(total) * 100)
    guard percent != shown else { return }
    shown = percent
    progress.show(Self.text(what, percent: percent, total))
  }

  static func text(_ what: String, percent: Int, _ total: Int) -> String {
    let filled = min(width, percent * width / 100)
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "\(what) [\(bar)] \(percent) % of \(Sizes.text(total))"
  }
}

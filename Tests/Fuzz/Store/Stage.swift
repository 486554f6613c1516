import Glibc

/// The stores of the trials, made once per process.
struct Stage {
  let folder: Folder
  let stories: [Story]

  nonisolated(unsafe) private static var folder: Folder?

  static let shared: Stage = {
    Randomness.replace()
    let folder = Folder()
    unsafe Self.folder = folder
    _ = atexit { unsafe Stage.folder?.remove() }
    do {
      return Stage(folder: folder, stories: [try .small(in: folder), try .large(in: folder)])
    } catch {
      fatalError("no store can be made: \(error)")
    }
  }()

  func run(_ input: RawSpan) -> Trial.End { Trial.run(input, stories, in: folder) }
  func restore(_ input: RawSpan) -> Trial.End { RestoreTrial.run(input, stories, in: folder) }
}

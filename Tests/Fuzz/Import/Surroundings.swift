// In place of the program and of the source: the reading of replies stands on these alone.

struct Failure: Error, Equatable {}

enum ImportProgram {
  static let wrong = Failure()
}

enum ImportSource {
  static let tooLarge = Failure()
}

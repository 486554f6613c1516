/// The writing down of when grants were used, which an unlock begins: some of them in each part, between requests.
package final class GrantUses: Runner.Work {
  /// The grants of one part, each of which is sealed anew for every class.
  static let part = 128

  private let access: Access
  private let runner: Runner

  init(_ access: Access, _ runner: Runner) { (self.access, self.runner) = (access, runner) }

  /// Writes the first part at once.
  func begin() { if case .again = run(until: 0) { runner.begin(self) } }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next { access.storeUses(atMost: Self.part) ? .again : .over }
}

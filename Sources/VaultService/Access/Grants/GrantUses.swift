/// The storing of the times at which grants were used. An unlock begins it, and it runs in parts between requests.
package final class GrantUses: Runner.Work {
  /// The number of grants in one part; each grant is sealed again for every class.
  static let part = 128

  private let access: Access
  private let runner: Runner

  init(_ access: Access, _ runner: Runner) { (self.access, self.runner) = (access, runner) }

  /// Stores the first part at once.
  func begin() { if case .again = run(until: 0) { runner.begin(self) } }

  package var share: Runner.Share { .equal }

  package func run(until end: Int64) -> Runner.Next { access.storeUses(atMost: Self.part) ? .again : .over }
}

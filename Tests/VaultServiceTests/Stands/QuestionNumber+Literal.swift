@testable import VaultService

extension QuestionNumber: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) { self.init(value) }
}

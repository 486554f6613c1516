import Testing
import VaultClient
import VaultWire

@testable import VaultAgent

@Suite("The order of what is asked") struct InquiryQueueTests {
  private let queue: InquiryQueue
  private let location: SocketLocation

  init() throws {
    queue = try InquiryQueue()
    location = try SocketLocation.user(explicit: "/run/vault-test/socket")
  }

  /// - Parameter count: the number of calls that wait for the inquiry.
  private func put(_ number: Int, count: Int) throws {
    let inquiry = Wire.Inquiry(number: number, about: "approval", count: count, name: "a")
    queue.put(try OpenInquiry(inquiry, at: location, isSystem: false))
  }

  @Test("those that a call waits for come before requests that nobody waits for") func waitingFirst() throws {
    for (number, count) in [(1, 0), (2, 1), (3, 0), (4, 2)] { try put(number, count: count) }
    #expect((0..<4).compactMap { _ in queue.take()?.inquiry.number } == [2, 4, 1, 3])
  }

  @Test("a request that nobody waits for gives way while it is asked, and comes again") func givesWay() throws {
    try put(1, count: 0)
    let first = try #require(queue.take())
    try put(2, count: 0)
    #expect(!first.isWithdrawn)
    try put(3, count: 1)
    #expect(first.isWithdrawn)
    #expect((0..<3).compactMap { _ in queue.take()?.inquiry.number } == [3, 2, 1])
  }

  @Test("all that a vault asks goes with its daemon, also what waits, and nothing that another vault asks")
  func gone() throws {
    let other = try SocketLocation.user(explicit: "/run/vault-test/other")
    for number in 1...2 { try put(number, count: 1) }
    let inquiry = Wire.Inquiry(number: 1, about: "approval", count: 1, name: "a")
    queue.put(try OpenInquiry(inquiry, at: other, isSystem: false))
    let first = try #require(queue.take())
    #expect(first.location == location && !first.isWithdrawn)
    queue.withdraw(nil, at: location)
    #expect(first.isWithdrawn)
    let next = try #require(queue.take())
    #expect(next.location == other && !next.isWithdrawn)
    queue.withdraw(nil, at: location)
    #expect(!next.isWithdrawn)
    queue.close()
    #expect(queue.take() == nil)
  }

  @Test("one that a call waits for does not give way, and one that was taken back does not come again")
  func stays() throws {
    try put(1, count: 1)
    let first = try #require(queue.take())
    try put(2, count: 1)
    #expect(!first.isWithdrawn)
    try put(3, count: 0)
    #expect(queue.take()?.inquiry.number == 2)
    let third = try #require(queue.take())
    #expect(third.inquiry.number == 3)
    try put(4, count: 1)
    queue.withdraw(3, at: location)
    #expect(third.isWithdrawn && queue.take()?.inquiry.number == 4)
    queue.close()
    #expect(queue.take() == nil)
  }
}

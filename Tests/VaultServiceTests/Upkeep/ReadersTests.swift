import Testing

@testable import VaultService

@Suite("Who waits for the end of something long") struct ReadersTests {
  private final class Client {}

  @Test("one that leaves while it is told is told no more, and one that joins is") func leaves() {
    let readers = Readers<Int, Int>()
    var told: [Int] = []
    var ended = 0
    let (first, second) = (Client(), Client())
    func reader(_ client: Client, leaves: Bool) -> Reader<Int, Int> {
      let id = ObjectIdentifier(client)
      return Reader(id) {
        true
      } tell: { progress in
        told.append(progress)
        if leaves { readers.remove(id) }
      } end: { _ in
        ended += 1
        readers.remove(id)
      }
    }
    readers.add(reader(first, leaves: true))
    readers.tell(1, every: 10, now: 100)
    #expect(told == [1] && readers.isEmpty)
    readers.add(reader(second, leaves: false))
    readers.tell(2, every: 10, now: 100)
    readers.tell(3, every: 10, now: 105)
    readers.tell(4, every: 10, now: 110)
    #expect(told == [1, 2, 4])
    readers.end(.success(5), in: nil)
    readers.end(.success(6), in: nil)
    #expect(ended == 1 && readers.isEmpty)
  }
}

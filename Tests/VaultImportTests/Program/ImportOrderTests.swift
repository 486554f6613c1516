import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("The files that vault hands over") struct ImportOrderTests {
  @Test("come in their order, whole, with their paths and times") func whole() throws {
    var order = ImportOrder(format: "csv")
    let begins = try order.begin("a/b", count: 3, modified: 7)
    let hasFirst = order.add([1, 2])
    let isEarly = order.isWhole || !order.files.isEmpty
    let hasSecond = order.add([3])
    let isWhole = order.isWhole
    let beginsEmpty = try order.begin("empty", count: 0, modified: nil)
    #expect(begins && hasFirst && !isEarly && hasSecond && isWhole && beginsEmpty && order.isWhole)
    #expect(order.format == "csv" && order.files.map(\.path) == ["a/b", "empty"])
    #expect(order.files.map(\.bytes) == [[1, 2, 3], []] && order.files.map(\.modified) == [7, nil])
  }

  @Test("a part that belongs to none, is empty or too long, and a file in a file are refused") func refused() throws {
    var order = ImportOrder(format: nil)
    var taken = [order.add([1])]
    let begins = try order.begin("a", count: 2, modified: nil)
    taken += [order.add([]), order.add([1, 2, 3]), try order.begin("b", count: 1, modified: nil)]
    #expect(begins && taken == [false, false, false, false] && order.files.isEmpty)
    var other = ImportOrder(format: nil)
    let isNegative = try other.begin("a", count: -1, modified: nil)
    #expect(!isNegative)
  }

  @Test("have limits on their number and their bytes") func limits() throws {
    var order = ImportOrder(format: nil)
    for number in 0..<ImportCall.most.files { _ = try order.begin("\(number)", count: 0, modified: nil) }
    #expect(throws: ImportFailure.self) { try order.begin("more", count: 0, modified: nil) }
    for count in [ImportCall.most.bytes + 1, .max] {
      var order = ImportOrder(format: nil)
      #expect(throws: ImportFailure.self) { try order.begin("a", count: count, modified: nil) }
    }
  }
}

extension ImportOrder {
  fileprivate mutating func add(_ bytes: [UInt8]) -> Bool { add(SecretBuffer(copying: unsafe bytes.span.bytes)) }
}

import Foundation
import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite struct JSONBuilderTests {
  private func text(_ members: (inout JSONBuilder) throws -> Void) rethrows -> String {
    var object = JSONBuilder()
    try members(&object)
    return object.take().withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  @Test func membersStandInTheOrderOfTheCalls() {
    let text = text { object in
      object.add("z", "a \"b\"\n")
      object.add("a", 7)
      object.add("time", Int64.min)
      object.add("is", true)
      object.add("names", ["x", "y"])
      object.add("numbers", [Int]())
    }
    #expect(
      text == #"{"z":"a \"b\"\n","a":7,"time":-9223372036854775808,"is":true,"names":["x","y"],"numbers":[]}"#)
  }

  @Test func aNilValueIsLeftOut() {
    let text = text { object in
      object.add("gone", String?.none)
      object.add("stays", 1)
      object.add("alsoGone", [Int]?.none)
    }
    #expect(text == #"{"stays":1}"#)
  }

  @Test func objectsStandInObjectsAndInArrays() {
    let text = text { object in
      object.add("empty") { _ in }
      object.add("inner") { inner in
        inner.add("a", 1)
        inner.add("list", 1...2) { element, number in element.add("n", number) }
      }
      object.add("values", [Wire.Empty(), Wire.Empty()])
      object.add("last", false)
    }
    #expect(
      text == #"{"empty":{},"inner":{"a":1,"list":[{"n":1},{"n":2}]},"values":[{},{}],"last":false}"#)
  }

  @Test func aKeyThatIsNoLiteralIsEscaped() {
    #expect(text { $0.add("a\"b", "c") } == #"{"a\"b":"c"}"#)
  }

  @Test func aSecretIsTextOrBase64() {
    let text = text { object in
      object.add("token", secret: unsafe "pw".utf8.span.bytes)
      object.add(content: unsafe ([0, 1] as [UInt8]).span.bytes)
    }
    #expect(text == #"{"token":"pw","data":"AAE="}"#)
  }
}

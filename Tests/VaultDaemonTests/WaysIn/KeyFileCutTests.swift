import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("A key's file when the power goes") struct KeyFileCutTests {
  private let keys = [[UInt8]](arrayLiteral: [UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))

  @Test("there is none, the one before or the new one, whole; once it is written that, and once it is removed none")
  func cuts() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let file = KeyFile(path: sandbox.home + "/boot.key", name: "boot key")
    var before: Data?
    for key in keys + [nil] {
      let disk = try DurableDisk(at: sandbox.home)
      try disk.watch {
        if let key { try file.write(unsafe key.span.bytes) } else { try file.remove() }
      }
      let after = key.map { Data($0) }
      for cut in disk.cuts {
        let found = cut.tree["boot.key"] ?? nil
        #expect(found == after || !cut.isAfterwards && found == before, "\(cut)")
      }
      #expect(disk.cuts.count { $0.isAfterwards } == DurableDisk.Luck.allCases.count)
      before = after
    }
  }
}

import Glibc
import Testing

@testable import VaultDaemon

@Suite("Lookups in the name service") struct LookupTests {
  /// Looks a group up whose entry takes this many bytes.
  private func group(of bytes: Int) -> (gid: UInt32?, sizes: [Int]) {
    var sizes: [Int] = []
    let gid = unsafe Lookup.entry(Glibc.group()) { entry, text, found in
      sizes.append(text.count)
      guard text.count >= bytes else { return ERANGE }
      unsafe entry.pointee.gr_gid = 4711
      unsafe found.pointee = unsafe entry
      return 0
    } _: {
      unsafe $0.gr_gid
    }
    return (gid, sizes)
  }

  @Test("an entry that is larger than the buffer is looked up again with a larger one, up to a limit") func large() {
    #expect(group(of: 100).sizes == [Lookup.firstSize])
    for bytes in [100, Lookup.firstSize, Lookup.firstSize + 1, 300 << 10, 5 << 20, Lookup.largestSize] {
      #expect(group(of: bytes).gid == 4711, "\(bytes) bytes")
    }
    let beyond = group(of: Lookup.largestSize + 1)
    #expect(beyond.gid == nil && beyond.sizes.last == Lookup.largestSize)
  }

  @Test("root is known by its names, and a name or number that nobody has is not") func known() {
    #expect(Accounts.user("root") == 0 && UserName.of(0) == "root" && Accounts.groupName(0) == "root")
    #expect(Accounts.group("root") == 0 && Accounts.groups(of: 0).contains(0))
    #expect(Accounts.user("vault-nobody") == nil && Accounts.group("vault-nobody") == nil)
    #expect(UserName.of(4_000_000_000) == nil && Accounts.groupName(4_000_000_000) == nil)
    #expect(Accounts.groups(of: 4_000_000_000) == [])
  }
}

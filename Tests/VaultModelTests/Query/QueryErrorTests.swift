import Testing
import VaultModel

@Suite("Queries that cannot be read")
struct QueryErrorTests {
  @Test(
    "The error points at the byte where reading failed, and says why",
    arguments: [
      ("owner=", 6, "value is missing"), ("owner= kind=totp", 6, "value is missing"), ("a=b owner~", 10, "missing"),
      ("owner==x", 5, "no operator '=='"), ("owner!~x", 5, "needs a '='"), ("owner<=x", 5, "no operator '<='"),
      ("owner!==x", 5, "no operator '!=='"), ("owner~=x", 5, "no operator '~='"), ("owner><x", 5, "no operator '><'"),
      ("a=b owner!x", 9, "needs a '='"), ("owner<x", 5, "owner is text"), ("owner>x", 5, "owner is text"),
      ("name<a", 4, "name is text"), ("name=a//b", 5, "empty part"), ("name!=..", 6, "'.'"),
      ("kind=tothp", 5, "password, api-key"), ("a=b kind!=x", 10, "totp"), ("accessible=never", 11, "when-unlocked"),
      ("require=pin", 8, "user-presence"), ("expires=7d", 8, "expires=never"), ("expires~x", 7, "is a time"),
      ("created=never", 7, "is a time"), ("modified!=x", 8, "is a time"), ("expires<", 8, "missing"),
      ("expires<soon", 8, "@1893456000"), ("expires<7", 8, "@1893456000"), ("expires<2027", 8, "@1893456000"),
      ("expires<-7d", 8, "@1893456000"), ("created>7yr", 8, "@1893456000"), ("created<2027-02-29", 8, "no such day"),
      ("expires<9999999999999999w", 8, "@1893456000"), ("version~1", 7, "is a number"), ("version=x", 8, "whole"),
      ("version=1k", 8, "whole"), ("version=-1", 8, "whole"), ("version=1.5", 8, "whole"), ("size<k", 5, "64k"),
      ("size<1g", 5, "64k"), ("size<1K", 5, "64k"), ("size<99999999999999999999", 5, "64k"),
      ("size<9223372036854775807k", 5, "too large"),
      ("=x", 0, "before '='"), ("a/b=c", 0, "before '='"), ("a=b ü=c", 4, "before '='"), ("x a@b~c", 2, "before '~'"),
      ("<7d", 0, "before '<'"), ("\"\"", 0, "empty"), ("x \"\"", 2, "empty"),
      ("owner=\"ana", 6, "not closed"), ("\"foo", 0, "not closed"), ("owner=\"a\\\"", 6, "not closed"),
      ("owner=\"a\\n\"", 8, "'\\' stands"), ("owner=\"a\\", 8, "'\\' stands"), ("owner=\"a\"b", 9, "whole value"),
      ("owner=a\"b\"", 7, "whole value"), ("fo\"o\"", 2, "whole value"), ("\"foo\"bar", 5, "whole value"),
      ("owner=\"a\tb\"", 8, "control"), ("owner=a\0", 7, "control"), ("ü\u{1B}", 2, "control"),
      ("a=b\u{85}", 3, "control"), ("\u{7F}", 0, "control"),
    ])
  func errors(query: String, position: Int, reason: String) {
    let error = #expect(throws: QueryError.self) { try Query(parsing: query) }
    #expect(error?.position == position)
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test("A key longer than any attribute's is refused at its start")
  func longKey() {
    let error = #expect(throws: QueryError.self) { try Query(parsing: "a=b \(String(repeating: "k", count: 129))=x") }
    #expect(error?.position == 4)
  }

  @Test("A query has up to 4096 bytes")
  func longQuery() {
    #expect(throws: Never.self) { try Query(parsing: "owner=" + String(repeating: "a", count: 4090)) }
    let error = #expect(throws: QueryError.self) { try Query(parsing: "owner=" + String(repeating: "a", count: 4091)) }
    #expect(error?.position == 4096)
  }

  @Test("A pattern has up to 1024 bytes, and a query up to 64 predicates: no item takes long to be held against one")
  func costlyQuery() {
    let longest = String(repeating: "*?", count: 512)
    for key in ["owner~", "name~", ""] {
      #expect(throws: Never.self) { try Query(parsing: key + longest) }
      let error = #expect(throws: QueryError.self) { try Query(parsing: "a=b " + key + longest + "b") }
      #expect(error?.position == 4 + key.utf8.count)
    }
    #expect(throws: Never.self) { try Query(parsing: String(repeating: "x ", count: 64)) }
    let error = #expect(throws: QueryError.self) { try Query(parsing: String(repeating: "x ", count: 65)) }
    #expect(error?.position == 128)
  }

  @Test("Every beginning of a query is read or refused at a place inside it")
  func truncation() {
    let query = #"name~a/** owner="a \"b\" \\" kind!=totp expires<7d size>64k version=1 created<2027-01-01T00:00:00Z ü"#
    for count in 0...query.count {
      let beginning = String(query.prefix(count))
      do throws(QueryError) { _ = try Query(parsing: beginning) } catch {
        #expect((0...beginning.utf8.count).contains(error.position))
      }
    }
  }
}

import Testing

@testable import VaultImport

@Suite("The times of KeePass databases") struct KDBXTimeTests {
  @Test(
    "are read in both forms",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2020-02-29T12:34:56Z", 1_582_979_696), ("2000-03-01T00:00:00", 951_868_800),
      ("1969-12-31T23:59:59Z", -1), ("0001-01-01T00:00:00Z", -62_135_596_800), ("2999-12-28T22:59:59Z", 32_503_417_199),
      ("2024-01-02T03:04:05.678Z", 1_704_164_645), ("2024-01-02T03:04:05+02:00", 1_704_157_445),
      ("2024-01-02T03:04:05-00:30", 1_704_166_445), ("AAAAAAAAAAA=", -62_135_596_800), ("cFHs1Q4AAAA=", 1_582_979_696),
      ("", nil), ("x", nil), ("2020-13-01T00:00:00Z", nil), ("2020-01-01 00:00:00Z", nil),
      ("2020-01-01T24:00:00Z", nil),
      ("2020-01-01T00:00:00Q", nil), ("AAAA", nil), ("AAAAAAAAAIA=", nil), ("2020-01-01T00:00:00+1", nil),
    ] as [(String, Int64?)])
  func read(text: String, seconds: Int64?) { #expect(KDBXTime.seconds(text) == seconds) }
}

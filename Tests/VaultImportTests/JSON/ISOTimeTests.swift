import Testing

@testable import VaultImport

@Suite struct ISOTimeTests {
  @Test(
    "Times are read to the second, with or without fraction and offset",
    arguments: [
      ("1970-01-01T00:00:00Z", Int64(0)), ("2024-02-29T23:59:59.999Z", 1_709_251_199),
      ("2000-03-01T00:00:00", 951_868_800),
      ("2019-07-09T04:16:10.5166667Z", 1_562_645_770), ("2024-05-06T07:08:09+02:00", 1_714_972_089),
      ("1969-12-31T23:59:59Z", -1), ("0001-01-01T00:00:00Z", -62_135_596_800),
      ("9999-12-31T23:59:59Z", 253_402_300_799),
    ])
  func reads(_ text: String, _ seconds: Int64) { #expect(ISOTime.seconds(text) == seconds) }

  @Test(
    "Anything else is no time",
    arguments: [
      "", "2024", "2024-05-06", "2024-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2024-05-06T24:00:00Z",
      "2024-05-06T07:08:09.Z", "2024-05-06T07:08:09Zx", "2024-05-06 07:08:09Z", "YYYY-MM-00T00:00:00.000Z",
      "2024-05-06T07:08:09+2:00", "２０２４-05-06T07:08:09Z",
    ])
  func refuses(_ text: String) { #expect(ISOTime.seconds(text) == nil) }
}

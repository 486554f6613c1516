internal import VaultModel

/// Columns of text for a person's terminal.
struct Table {
  /// The content of one cell. Its text may come from anywhere, so every character is shown as text; the color is kept
  /// apart.
  struct Cell {
    let text: String
    let isRed: Bool
    /// The columns that the text takes on a terminal.
    let width: Int

    init(_ text: String, isRed: Bool = false) {
      self.text = Printable.line(text)
      self.isRed = isRed
      width = TextWidth.columns(self.text)
    }
  }

  private let heading: [String]
  private var rows: [(cells: [Cell], below: String?)] = []
  private var widths: [Int]
  private var isBegun = false

  init(_ heading: String...) {
    self.heading = heading
    widths = heading.map { TextWidth.columns($0) }
  }

  /// The number of rows that ``text(withHeading:)`` would print now.
  var count: Int { rows.count }

  /// Adds a row.
  ///
  /// - Parameter below: one line of text that is too long for a column; it stands below the row, in full.
  mutating func add(_ cells: Cell..., below: String? = nil) {
    rows.append((cells, below.map { Printable.line($0) }))
    for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], cell.width) }
  }

  /// Returns the rows added since the last call, with a newline after each. Columns are as wide as their widest cell so
  /// far. The heading stands before the first rows; output for other programs has none.
  ///
  /// - Parameter most: the columns of the terminal, to which rows are shortened; nil leaves rows whole.
  mutating func text(withHeading: Bool = true, most: Int? = Output.columns) -> String {
    let widths = most.map { Self.fit(self.widths, into: $0) } ?? self.widths
    var text = withHeading && !isBegun ? Style.bold(Self.line(heading.map { Cell($0) }, widths)) + "\n" : ""
    for row in rows {
      text += Self.line(row.cells, widths) + "\n"
      guard let below = row.below else { continue }
      text += most.map { Rows.lay(Self.indent + below, columns: $0, indent: Self.indent) } ?? Self.indent + below
      text += "\n"
    }
    rows.removeAll(keepingCapacity: true)
    isBegun = true
    return text
  }

  /// Narrows the widest columns until all fit, to less than ``useful`` only if nothing else helps. A terminal that is
  /// too narrow even for that wraps the rows, so their columns still say something.
  private static func fit(_ widths: [Int], into most: Int) -> [Int] {
    let wide = narrow(widths, to: useful, into: most)
    let least = narrow(wide, to: 1, into: most)
    return excess(of: least, over: most) > 0 ? wide : least
  }

  /// Narrows the widest columns, none of them to less than `least`, until all fit or no more can be narrowed.
  private static func narrow(_ widths: [Int], to least: Int, into most: Int) -> [Int] {
    var widths = widths
    while case let excess = Self.excess(of: widths, over: most), excess > 0 {
      guard let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > least else { break }
      let next = widths.indices.filter { $0 != widest }.map { widths[$0] }.max() ?? 0
      widths[widest] -= max(1, min(excess, widths[widest] - max(next, least)))
    }
    return widths
  }

  /// The number of columns by which a row is too wide, with two blanks between its cells.
  private static func excess(of widths: [Int], over most: Int) -> Int {
    widths.reduce(0, +) + 2 * (widths.count - 1) - most
  }

  /// The blanks before the text below a row.
  private static let indent = "    "

  /// The least width in columns at which a long text still says something.
  private static let useful = 10

  /// One line of the table, without blanks after its last cell.
  private static func line(_ cells: [Cell], _ widths: [Int]) -> String {
    let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
    return cells.indices.prefix(through: last).reduce(into: "") { line, column in
      let cell = cells[column]
      let text = TextWidth.cut(cell.text, to: widths[column])
      line += cell.isRed ? Style.red(text) : text
      if column < last { line += String(repeating: " ", count: widths[column] - TextWidth.columns(text) + 2) }
    }
  }
}

/** Plots as SVG text, without a dependency. Colors follow the reader's scheme. */

export type Plot = BarPlot | LinePlot

interface PlotBase {
  /** Part of the file name. */
  readonly id: string
  readonly title: string
  /** What it shows, for readers who do not see it. */
  readonly note: string
  readonly unit: string
}

/** One bar for each value; those of one group stand together. */
export interface BarPlot extends PlotBase {
  readonly kind: 'bars'
  readonly bars: readonly { readonly group: string; readonly label: string; readonly value: number }[]
}

export interface LinePlot extends PlotBase {
  readonly kind: 'lines'
  readonly x: string
  readonly isLogX?: boolean
  readonly lines: readonly { readonly label: string; readonly points: readonly (readonly [x: number, y: number])[] }[]
}

const WIDTH = 860
const COLORS = 6

export function fileOfPlot(report: string, { id }: Plot): string {
  return `images/plots/${report}-${id}.svg`
}

export function renderPlot(plot: Plot): string {
  return plot.kind === 'bars' ? renderBars(plot) : renderLines(plot)
}

const STYLE = `<style>
text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600;font-size:15px}.quiet{fill:#57606a}.grid{stroke:#d0d7de}.axis{stroke:#57606a}
.c0{--c:#0969da}.c1{--c:#bf5b04}.c2{--c:#1a7f37}.c3{--c:#8250df}.c4{--c:#cf222e}.c5{--c:#57606a}
rect.bar,circle{fill:var(--c)}polyline{fill:none;stroke:var(--c);stroke-width:2}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.grid{stroke:#3d444d}.axis{stroke:#9198a1}
.c0{--c:#4493f8}.c1{--c:#e3883c}.c2{--c:#3fb950}.c3{--c:#ab7df8}.c4{--c:#f85149}.c5{--c:#9198a1}}
</style>`

function renderBars({ title, note, unit, bars }: BarPlot): string {
  const left = 40 + Math.max(...bars.map(({ label }) => label.length), 10) * 7
  const groups = [...new Set(bars.map(({ group }) => group))]
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  const parts: string[] = []
  const labels = [...new Set(bars.map(({ label }) => label.split(',')[0]!))]
  let y = 56
  for (const group of groups) {
    parts.push(text(16, y, group, 'quiet'))
    y += 8
    for (const { label, value } of bars.filter((bar) => bar.group === group)) {
      const width = ((WIDTH - left - 110) * value) / most
      const color = labels.indexOf(label.split(',')[0]!) % COLORS
      parts.push(
        text(left - 8, y + 15, label, '', 'end'),
        `<rect class="bar c${color}" x="${left}" y="${y + 3}" width="${round(Math.max(width, 1))}" height="16"/>`,
        text(left + width + 6, y + 15, numberOf(value)),
      )
      y += 22
    }
    y += 22
  }
  return svg({ title: `${title} (${unit})`, note, height: y, body: parts })
}

const PLOT = { left: 70, top: 70, right: WIDTH - 20, bottom: 330 }

function renderLines({ title, note, unit, x, isLogX = false, lines }: LinePlot): string {
  const points = lines.flatMap((line) => line.points)
  const xs = points.map(([at]) => (isLogX ? Math.log10(at) : at))
  const [from, to] = [Math.min(...xs), Math.max(...xs)]
  const ticks = ticksTo(Math.max(...points.map(([, value]) => value), Number.MIN_VALUE))
  const top = ticks.at(-1)!
  const span = to - from || 1
  const atX = (value: number): number =>
    PLOT.left + (((isLogX ? Math.log10(value) : value) - from) / span) * (PLOT.right - PLOT.left)
  const atY = (value: number): number => PLOT.bottom - (value / top) * (PLOT.bottom - PLOT.top)
  const grid = ticks.flatMap((tick) => [
    `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${round(atY(tick))}" y2="${round(atY(tick))}"/>`,
    text(PLOT.left - 8, atY(tick) + 4, numberOf(tick), 'quiet', 'end'),
  ])
  const marks = [...new Set(points.map(([at]) => at))].sort((one, other) => one - other)
  const shown = marks.filter((_, index) => marks.length <= 8 || index % Math.ceil(marks.length / 8) === 0)
  const along = shown.map((at) => text(atX(at), PLOT.bottom + 18, numberOf(at), 'quiet', 'middle'))
  const drawn = lines.flatMap((line, index) => {
    const at = line.points.map(([one, value]) => [round(atX(one)), round(atY(value))] as const)
    const dots = at.length > 60 ? [] : at.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3"/>`)
    return [`<g class="c${index % COLORS}"><polyline points="${at.join(' ')}"/>${dots.join('')}</g>`]
  })
  let keyX = PLOT.left
  const key = lines.flatMap(({ label }, index) => {
    const own = [
      `<rect class="bar c${index % COLORS}" x="${keyX}" y="40" width="12" height="12"/>`,
      text(keyX + 18, 51, label),
    ]
    keyX += 40 + label.length * 7
    return own
  })
  const axis = `<line class="axis" x1="${PLOT.left}" x2="${PLOT.right}" y1="${PLOT.bottom}" y2="${PLOT.bottom}"/>`
  const name = text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 40, x, 'quiet', 'middle')
  return svg({
    title: `${title} (${unit})`,
    note,
    height: PLOT.bottom + 54,
    body: [...grid, axis, ...along, name, ...drawn, ...key],
  })
}

interface Drawing {
  readonly title: string
  readonly note: string
  readonly height: number
  readonly body: readonly string[]
}

function svg({ title, note, height, body }: Drawing): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${round(height)}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escaped(title)}</title><desc id="d">${escaped(note)}</desc>`,
    STYLE,
    text(16, 26, title, 'title'),
    ...body,
    '</svg>\n',
  ].join('\n')
}

/** Four to six steps of 1, 2 or 5 times a power of ten. */
export function ticksTo(most: number): readonly number[] {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough)!
  const count = Math.ceil(most / step)
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(6)))
}

function text(x: number, y: number, words: string, kind = '', anchor = 'start'): string {
  const ends = anchor === 'start' ? '' : ` text-anchor="${anchor}"`
  return `<text${kind === '' ? '' : ` class="${kind}"`} x="${round(x)}" y="${round(y)}"${ends}>${escaped(words)}</text>`
}

function numberOf(value: number): string {
  if (value === 0) return '0'
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : 3
  return digits === 0 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(digits)))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

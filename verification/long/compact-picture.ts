/**
 * The picture of a run without its tooltips, for the docs. Bars of one kind in one row become one path in whole pixels, so that the
 * picture of thousands of runs stays small enough for a repository.
 */
export function compactPicture(svg: string): string {
  const start = svg.indexOf('</defs>')
  const [head, body] = [svg.slice(0, start), svg.slice(start)]
  const plain = body.replace(/<title>[^<]*<\/title>/g, '').replace(/<\/?g\b[^>]*>/g, '')
  return head + plain.replace(BARS, joinBars)
}

/** Bars that follow each other: what lies between them must stay above or below them. */
const BARS = /(?:<rect class="[\w -]+" x="[\d.]+" y="[\d.]+" width="[\d.]+" height="[\d.]+"\/>){2,}/g
const BAR = /<rect class="([\w -]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"\/>/g

interface Row {
  readonly kind: string
  readonly y: number
  readonly height: number
  readonly spans: (readonly [from: number, to: number])[]
}

function joinBars(bars: string): string {
  const rows = new Map<string, Row>()
  for (const [, kind, ...numbers] of bars.matchAll(BAR)) {
    const [x, y, width, height] = numbers.map(Number) as [number, number, number, number]
    const key = `${kind} ${y} ${height}`
    const row = rows.get(key) ?? { kind: kind!, y, height, spans: [] }
    const from = Math.round(x)
    row.spans.push([from, Math.max(from + 1, Math.round(x + width))])
    rows.set(key, row)
  }
  return [...rows.values()].map(pathOf).join('')
}

function pathOf({ kind, y, height, spans }: Row): string {
  // An outline would lose the border between two bars.
  const drawn = kind.includes('outline') ? spans : merged(spans)
  const parts = drawn.map(([from, to]) => `M${from} ${y}h${to - from}v${height}h${from - to}z`)
  return `<path class="${kind}" d="${parts.join('')}"/>`
}

function merged(spans: Row['spans']): Row['spans'] {
  const found: Row['spans'] = []
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = found.at(-1)
    if (last !== undefined && from <= last[1]) found[found.length - 1] = [last[0], Math.max(last[1], to)]
    else found.push([from, to])
  }
  return found
}

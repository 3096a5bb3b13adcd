import { element, type Svg } from './svg.ts'

/** Fill or stroke by class: on light ground, on dark ground. No meaning rests on colour alone. */
const FILLS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  ground: ['#ffffff', '#0f1419'],
  ink: ['#1c2530', '#e4e9ee'],
  muted: ['#667483', '#8b98a5'],
  band: ['#f3f5f7', '#171e26'],
  alive: ['#e4e9ee', '#232d38'],
  succeeded: ['#2f8f7f', '#3fae9a'],
  failed: ['#e0a030', '#e0a840'],
  threw: ['#e0a030', '#e0a840'],
  'threw-edge': ['#8a5a00', '#fff1cf'],
  accent: ['#c8202e', '#ff6b6b'],
  'on-accent': ['#ffffff', '#2a0608'],
  'on-bar': ['#ffffff', '#06110f'],
  shade: ['#d9822b', '#e0a050'],
  operator: ['#3b6fc4', '#7aa5f0'],
  'let-go': ['url(#let-go)', 'url(#let-go)'],
  fenced: ['url(#fenced)', 'url(#fenced)'],
  pause: ['url(#pause)', 'url(#pause)'],
}
const STROKES: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  grid: ['#e3e7eb', '#222c36'],
  'line-muted': ['#8793a0', '#7b8895'],
  'line-fenced': ['#7a55b0', '#b192e6'],
  'line-pause': ['#8793a0', '#8793a0'],
  'line-shade': ['#b5651d', '#e0a050'],
  'line-accent': ['#c8202e', '#ff6b6b'],
  'line-on-accent': ['#ffffff', '#2a0608'],
}

export const FONT_SIZE = 11

/** Style and patterns: the picture needs nothing from elsewhere, and follows the reader's light or dark. */
export function styleSheet(): Svg {
  const rules = (index: 0 | 1) =>
    [
      ...Object.entries(FILLS).map(([name, colours]) => `.${name}{fill:${colours[index]}}`),
      ...Object.entries(STROKES).map(([name, colours]) => `.${name}{stroke:${colours[index]}}`),
    ].join('')
  const shapes = [
    `text{font:${FONT_SIZE}px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}`,
    '.title{font-size:20px;font-weight:600}.sub{font-size:13px}.strong{font-weight:600}.small{font-size:9px}',
    '.end{text-anchor:end}.middle{text-anchor:middle}',
    '.shade{fill-opacity:.14}.band,.alive{fill-opacity:.7}.outline{fill:none}.dashed{stroke-dasharray:3 2}',
    '.accused{stroke-width:2.5}',
  ].join('')
  return [
    element('style', {}, `${rules(0)}${shapes}@media (prefers-color-scheme:dark){${rules(1)}}`),
    element('defs', {}, pattern('let-go', 'line-muted', 5), crossHatch(), pattern('pause', 'line-pause', 7)),
  ].join('')
}

function pattern(id: string, className: string, size: number): Svg {
  const box = { id, width: size, height: size, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }
  const line = { class: className, x1: 0, y1: 0, x2: 0, y2: size, 'stroke-width': 1.6 }
  return element('pattern', box, element('line', line))
}

function crossHatch(): Svg {
  const box = { id: 'fenced', width: 4, height: 4, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }
  const line = { class: 'line-fenced', 'stroke-width': 1.4 }
  return element(
    'pattern',
    box,
    element('line', { ...line, x1: 0, y1: 0, x2: 0, y2: 4 }),
    element('line', { ...line, x1: 0, y1: 0, x2: 4, y2: 0 }),
  )
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactPicture } from './compact-picture.ts'

const HEAD = '<svg viewBox="0 0 100 20"><title>A run</title><defs></defs>'

function bar(kind: string, x: number, width: number, y = 2): string {
  return `<g class="bar"><title>due 12:00</title><rect class="${kind}" x="${x}" y="${y}" width="${width}" height="6"/></g>`
}

test('a compact picture has no tooltips, and keeps its title and its texts', () => {
  const text = compactPicture(`${HEAD}<text x="1" y="9">billing</text>${bar('failed', 3.4, 2.2)}</svg>`)
  assert.equal(
    text,
    `${HEAD}<text x="1" y="9">billing</text><rect class="failed" x="3.4" y="2" width="2.2" height="6"/></svg>`,
  )
})

test('bars of one kind in one row are one path in whole pixels, and a short bar stays visible', () => {
  const bars = [bar('failed', 3.4, 2.2), bar('failed', 20, 0.1), bar('succeeded', 5, 4), bar('failed', 3, 5, 12)]
  assert.equal(
    compactPicture(`${HEAD}${bars.join('')}</svg>`),
    `${HEAD}<path class="failed" d="M3 2h3v6h-3zM20 2h1v6h-1z"/><path class="succeeded" d="M5 2h4v6h-4z"/><path class="failed" d="M3 12h5v6h-5z"/></svg>`,
  )
})

test('bars that touch become one, unless they are outlines', () => {
  const touching = (kind: string): string => compactPicture(`${HEAD}${bar(kind, 3, 4)}${bar(kind, 6, 4)}</svg>`)
  assert.equal(touching('succeeded'), `${HEAD}<path class="succeeded" d="M3 2h7v6h-7z"/></svg>`)
  assert.equal(
    touching('outline line-muted'),
    `${HEAD}<path class="outline line-muted" d="M3 2h4v6h-4zM6 2h4v6h-4z"/></svg>`,
  )
})

test('what lies between two bars stays between them', () => {
  const mark = '<line class="grid" x1="1" y1="1" x2="2" y2="2"/>'
  const text = compactPicture(`${HEAD}${bar('failed', 1, 2)}${mark}${bar('failed', 1, 2)}</svg>`)
  assert.match(text, /<rect [^>]*\/><line [^>]*\/><rect [^>]*\/><\/svg>$/)
})

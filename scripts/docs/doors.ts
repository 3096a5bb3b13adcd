/** The table of rooms and doors in docs/architecture.md. `node scripts/docs/doors.ts` writes it; the import check compares. */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ROOMS, type Room } from '../import-rules.ts'

export const DOORS_DOC = 'docs/architecture.md'

const BEGIN = '<!-- doors: made by node scripts/docs/doors.ts -->\n'
const END = '<!-- end of doors -->\n'

/** The page with the table as the rules are now. */
export function withDoors(page: string, rooms: readonly Room[] = ROOMS): string {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`${DOORS_DOC} must have ${BEGIN.trim()} and ${END.trim()}.`)
  return page.slice(0, begin + BEGIN.length) + doorsTable(rooms) + page.slice(end)
}

function doorsTable(rooms: readonly Room[]): string {
  const rows = rooms.map(({ name, holds, doors, packages, never }) => {
    const imports = [...doors, ...packages].map((one) => `\`${one}\``)
    return `| \`${name}\` | ${holds} | ${imports.join(', ') || 'nothing'} | ${never?.about ?? ''} |\n`
  })
  return `| room | holds | may import | must never |\n| --- | --- | --- | --- |\n${rows.join('')}`
}

if (import.meta.main) {
  const file = resolve(import.meta.dirname, '../..', DOORS_DOC)
  const page = readFileSync(file, 'utf8')
  const made = withDoors(page)
  if (made !== page) writeFileSync(file, made)
  console.log(made === page ? `${DOORS_DOC} is fresh` : `${DOORS_DOC} was written`)
}

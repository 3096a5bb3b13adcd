// npm run bench:postgres [-- --quick] [-- --only PART,…] [-- --markdown FILE] [-- --json]
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { judge } from './bars.ts'
import { measureParts } from './measure.ts'
import { report } from './report.ts'
import { faultsOf, PARTS, type Part } from './results.ts'
import { startBenchServer } from './server.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    markdown: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const begun = performance.now()
const progress = (text: string) =>
  process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0)} s  ${text}\n`)

const server = await startBenchServer()
try {
  const results = await measureParts(server, { quick: values.quick, parts: partsOf(values.only), progress })
  const bars = judge(results)
  const text = report(results, bars, server.version)
  process.stdout.write(values.json ? `${JSON.stringify({ results, bars }, null, 2)}\n` : text)
  if (values.markdown !== undefined) writeFileSync(values.markdown, text)
  // A missed bar is news, not an error; a fire that was lost or run twice is.
  process.exitCode = faultsOf(results).length > 0 ? 1 : 0
} finally {
  await server.stop()
}

function partsOf(only: string | undefined): readonly Part[] {
  if (only === undefined) return PARTS
  return only.split(',').map((name) => {
    const part = PARTS.find((known) => known === name)
    if (part === undefined) throw new Error(`There is no part ${name}; there are ${PARTS.join(', ')}.`)
    return part
  })
}

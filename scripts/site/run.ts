/** `npm run docs`: builds the documentation site and serves it on loopback. `-- --build` only builds, `--to FOLDER`, `--port N`. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSite } from './build.ts'
import { serve } from './serve.ts'

const { values } = parseArgs({
  options: {
    build: { type: 'boolean', default: false },
    to: { type: 'string', default: join(import.meta.dirname, '../../site') },
    port: { type: 'string', default: '4800' },
  },
})
const { pages, problems } = await buildSite(values.to)
for (const problem of problems) console.error(problem)
console.log(`${pages.length} pages in ${values.to}`)
if (problems.length > 0) process.exitCode = 1
if (!values.build) console.log(`Read it at ${(await serve(values.to, Number(values.port))).url}`)

/** `npm run demo`: `cronce demo` of this checkout, without the dashboard unless `--dashboard` is given. */
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../packages/cli/bin/cronce.js', import.meta.url))
const given = process.argv.slice(2)
const others = given.filter((one) => one !== '--dashboard')
// The processes of the demo are started as this one is.
process.argv = [
  process.argv[0]!,
  program,
  'demo',
  ...(others.length < given.length ? others : ['--no-dashboard', ...given]),
]
await import(program)

// npm run bench:postgres [-- --quick] [-- --only PART,…] [-- --save FILE] [-- --report FOLDER] [-- --markdown FILE] [-- --json]
import { benchCommand } from '../shared/command-line.ts'
import { judge } from './bars.ts'
import { measureParts } from './measure.ts'
import { publishPostgres } from './publish.ts'
import { report } from './report.ts'
import { faultsOf, PARTS } from './results.ts'
import { startBenchServer } from './server.ts'

const command = benchCommand(PARTS)
const server = await startBenchServer()
try {
  const results = await measureParts(server, command)
  const bars = judge(results)
  command.print(report(results, bars, server.version, command.saved.origin()), { results, bars })
  publishPostgres(command, results, bars, server.version)
  // A missed bar is news, not an error; a fire that was lost or run twice is.
  process.exitCode = faultsOf(results).length > 0 ? 1 : 0
} finally {
  await server.stop()
}

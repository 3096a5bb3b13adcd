// npm run bench:redis [-- --quick] [-- --only PART,…] [-- --save FILE] [-- --report FOLDER] [-- --markdown FILE] [-- --json]
import { benchCommand } from '../shared/command-line.ts'
import { judge } from './bars.ts'
import { measureParts } from './measure.ts'
import { publishRedis } from './publish.ts'
import { report } from './report.ts'
import { faultsOf, PARTS } from './results.ts'
import { withServer } from './server.ts'

const command = benchCommand(PARTS)
const version = await withServer('everysec', async (server) => server.version)
const results = await measureParts(command)
const bars = judge(results)
command.print(report(results, bars, version, command.saved.origin()), { results, bars })
publishRedis(command, results, bars, version)
// A missed bar is news, not an error; a fire that was lost or run twice is.
process.exitCode = faultsOf(results).length > 0 ? 1 : 0

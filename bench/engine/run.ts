// npm run bench:engine [-- --quick] [-- --only PART,…] [-- --save FILE] [-- --report FOLDER] [-- --markdown FILE] [-- --json]
import { benchCommand } from '../shared/command-line.ts'
import { judge } from './bars.ts'
import { measureParts } from './measure.ts'
import { publishEngine } from './publish.ts'
import { faultsOf, PARTS, report } from './report.ts'

const command = benchCommand(PARTS)
const results = await measureParts(command)
const bars = judge(results)
command.print(report(results, bars, command.saved.origin()), { results, bars })
publishEngine(command, results, bars)
// A missed bar is news, not an error; a fire that was lost or run twice is.
process.exitCode = faultsOf(results).length > 0 ? 1 : 0

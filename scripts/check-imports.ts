import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { DOORS_DOC, withDoors } from './docs/doors.ts'
import { findUnused, findViolations } from './import-rules.ts'
import { findInternalViolations } from './internal-exports.ts'

const files = new Map<string, string>()
for await (const file of glob(['packages/*/src/**/*.ts', 'packages/dashboard/ui/**/*.{ts,tsx}']))
  files.set(file, readFileSync(file, 'utf8'))
const violations = [...findViolations(files), ...findUnused(files), ...findInternalViolations(files)]
const page = readFileSync(DOORS_DOC, 'utf8')
if (withDoors(page) !== page) {
  violations.push({
    file: DOORS_DOC,
    message: 'has another table of doors than the rules: run node scripts/docs/doors.ts',
  })
}
for (const { file, message } of violations) console.error(`${file}: ${message}`)
console.log(`${files.size} files, ${violations.length} violations`)
// An empty list of files would pass every rule.
process.exitCode = violations.length > 0 || files.size === 0 ? 1 : 0

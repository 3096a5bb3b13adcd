import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import draft04 from 'ajv-draft-04'
import formats from 'ajv-formats'
import { audit } from '../src/audit.ts'
import { fingerprintsOf } from '../src/decide/fingerprints.ts'
import { treeOf } from '../src/discover/tree.ts'
import { sarifReport } from '../src/report/sarif.ts'
import { RULES } from '../src/rules/rules.ts'

const file = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')
// The schema has a pattern that is no valid expression with the flag `u`.
const ajv = new draft04.default({ strict: false, unicodeRegExp: false, allErrors: true })
formats.default(ajv)
const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')))

test('a report with findings of every rule is valid SARIF 2.1.0', async () => {
  const rules = new Set<string>()
  for (const { bad } of RULES) {
    const tree = treeOf(bad)
    const { findings, project } = await audit(tree)
    const fingerprints = fingerprintsOf(tree, findings)
    const schedules = project.all('schedule')
    const log: { runs: { results: { ruleId: string }[] }[] } = JSON.parse(
      sarifReport(
        {
          tree,
          rules: RULES,
          schedules,
          findings,
          fingerprints,
          suppressed: 0,
          inBaseline: 0,
          unreadable: [],
          notices: [],
        },
        '1.2.3',
      ),
    )
    const isValid: boolean = validate(log)
    assert.ok(isValid, JSON.stringify(validate.errors))
    for (const { ruleId } of log.runs[0]!.results) rules.add(ruleId)
  }
  assert.deepEqual([...rules].sort(), RULES.map(({ id }) => id).sort())
})

test('the schema rejects what is no SARIF', () => {
  assert.equal(validate({ version: '2.1.0' }), false)
})

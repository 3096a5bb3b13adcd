import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from '../src/command.ts'
import { RULES } from '../src/rules/rules.ts'

const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronce-audit-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

async function run(folder: string, ...args: readonly string[]): Promise<{ code: number; out: string; error: string }> {
  const said = { out: '', error: '' }
  const code = await runCommand(args, {
    folder,
    version: '1.2.3',
    out: (text) => (said.out += text),
    error: (text) => (said.error += text),
  })
  return { code, ...said }
}

const UNSAFE = "import cron from 'node-cron'\ncron.schedule('0 25 * * *', () => send())\n"
const WARNED = "import cron from 'node-cron'\ncron.schedule('0 * * * *', () => send())\n"

test('the text begins with the inventory, and shows the line, the reason and the fix', async () => {
  const { code, out } = await run(folderWith({ 'jobs.js': WARNED }))
  assert.equal(code, 0)
  assert.match(out, /^1 schedule in 1 file; 1 can run twice; 0 can overlap\.\n {2}jobs\.js:2 {2}node-cron {2}hourly/)
  assert.match(out, /warning FLT001 jobs\.js:2\n/)
  assert.match(out, /> 2 \| cron\.schedule/)
  assert.match(out, /why: .+\n {2}fix: .+\n {2}https:.+\/flt001\.md\n/)
  assert.match(out, /0 errors, 1 warning, 0 info\n/)
})

test('an expression that is invalid has no time of day in words', async () => {
  const { out } = await run(folderWith({ 'jobs.js': UNSAFE }), '--inventory')
  assert.match(out, / {2}invalid: 0 25 \* \* \* {2}/)
  assert.doesNotMatch(out, /daily/)
})

test('a step that leaves a shorter gap has no period in words, and messages name the shortest gap as such', async () => {
  const crontab = '*/7 * * * * /opt/a\n*/20 * * * * /opt/b\n0 3 * * * /opt/c\n'
  const manifest = [
    'apiVersion: batch/v1',
    'kind: CronJob',
    'metadata: { name: report }',
    'spec:',
    '  schedule: "CRON_TZ=Europe/Berlin 0 3 * * *"',
    '  jobTemplate: {}',
    '',
  ].join('\n')
  const { out } = await run(folderWith({ crontab, 'k8s/report.yaml': manifest }))
  assert.match(out, /crontab:1 +crontab +\*\/7 \* \* \* \* +zone/)
  assert.match(out, /crontab:2 +crontab +every 20 min \(\*\/20 \* \* \* \*\)/)
  assert.match(out, /`\*\/7 \* \* \* \*` starts runs as little as 4 minutes apart, and no lock prevents an overlap\./)
  assert.match(out, /DST002 crontab:3\n[^!]*?fix: State the zone, .* in a crontab, the line `CRON_TZ=UTC` above/)
  assert.match(
    out,
    /`CRON_TZ=Europe\/Berlin` stands in the schedule, where Kubernetes refuses a zone: use `timeZone`\./,
  )
})

test('findings at the level of --fail-on end with code 10', async () => {
  const folder = folderWith({ 'jobs.js': WARNED })
  assert.equal((await run(folder, '--fail-on', 'warning')).code, 10)
  assert.equal((await run(folder, '--fail-on', 'error')).code, 0)
  assert.equal((await run(folderWith({ 'jobs.js': UNSAFE }))).code, 10)
})

test('wrong usage ends with code 2 and says what is allowed', async () => {
  const folder = folderWith({})
  for (const args of [
    ['--format', 'xml'],
    ['--fail-on', 'all'],
    ['--unknown'],
    ['missing'],
    ['--explain', 'XYZ999'],
    ['--update-baseline'],
  ]) {
    const { code, error } = await run(folder, ...args)
    assert.equal(code, 2, args.join(' '))
    assert.notEqual(error, '')
  }
})

test('JSON has a version, the schedules and the findings', async () => {
  const { out } = await run(folderWith({ 'jobs.js': WARNED }), '--format', 'json')
  const json = JSON.parse(out)
  assert.equal(json.version, 1)
  assert.deepEqual(json.summary, { schedules: 1, files: 1, twice: 1, overlap: 0, suppressed: 0, inBaseline: 0 })
  assert.equal(json.schedules[0].source, 'node-cron')
  assert.deepEqual(
    json.findings.map(({ rule }: { rule: string }) => rule),
    ['FLT001'],
  )
  assert.match(json.findings[0].fingerprint, /^[\da-f]{20}$/)
})

test('SARIF names each rule once and has relative paths', async () => {
  const { out } = await run(folderWith({ 'a b/jobs.js': UNSAFE }), '--format', 'sarif')
  const { version, runs } = JSON.parse(out)
  assert.equal(version, '2.1.0')
  const [{ tool, results }] = runs
  assert.equal(new Set(tool.driver.rules.map(({ id }: { id: string }) => id)).size, tool.driver.rules.length)
  for (const { ruleId, ruleIndex, level, message, locations, partialFingerprints } of results) {
    assert.equal(tool.driver.rules[ruleIndex].id, ruleId)
    assert.ok(['error', 'warning', 'note'].includes(level))
    assert.notEqual(message.text, '')
    assert.equal(locations[0].physicalLocation.artifactLocation.uri, 'a%20b/jobs.js')
    assert.equal(locations[0].physicalLocation.region.startLine, 2)
    assert.match(partialFingerprints['cronceAudit/v1'], /^[\da-f]{20}$/)
  }
})

test('annotations stay within the limits of the platform', async () => {
  const files = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`jobs-${index}.js`, WARNED]))
  const { out } = await run(folderWith(files), '--format', 'github')
  assert.equal(out.match(/^::warning file=jobs-\d+\.js,line=2,title=FLT001::/gm)?.length, 10)
  assert.match(out, /^3 more at level warning/m)
})

test('a suppression needs a reason, and one that is not used is reported', async () => {
  const line = "cron.schedule('0 * * * *', () => send())\n"
  const head = "import cron from 'node-cron'\n"
  const withReason = await run(
    folderWith({ 'jobs.js': `${head}// cronce-audit-ignore-next-line FLT001 -- one instance by contract\n${line}` }),
    '--fail-on',
    'info',
  )
  assert.equal(withReason.code, 0)
  assert.match(withReason.out, /1 suppressed/)
  const without = await run(
    folderWith({ 'jobs.js': `${head}// cronce-audit-ignore-next-line FLT001\n${line}` }),
    '--fail-on',
    'info',
  )
  assert.equal(without.code, 10)
  assert.match(without.out, /jobs\.js:2: the suppression of FLT001 has no effect: add a reason/)
  const unused = await run(
    folderWith({ 'jobs.js': `${head}${line}// cronce-audit-ignore-next-line DST001 -- reason\n` }),
  )
  assert.match(unused.out, /jobs\.js:3: the suppression of DST001 is not used/)
  const whole = await run(
    folderWith({ 'jobs.js': `// cronce-audit-ignore-file FLT001 -- reason\n${head}\n${line}` }),
    '--fail-on',
    'info',
  )
  assert.equal(whole.code, 0)
})

test('a baseline hides what it names, also when lines move, and nothing else', async () => {
  const folder = folderWith({ 'jobs.js': WARNED })
  assert.equal((await run(folder, '--baseline', 'base.json', '--update-baseline')).code, 0)
  const written = readFileSync(join(folder, 'base.json'), 'utf8')
  writeFileSync(join(folder, 'jobs.js'), `\n\n${WARNED}`)
  const moved = await run(folder, '--baseline', 'base.json', '--fail-on', 'info')
  assert.equal(moved.code, 0)
  assert.match(moved.out, /1 in the baseline/)
  writeFileSync(join(folder, 'other.js'), WARNED)
  assert.equal((await run(folder, '--baseline', 'base.json', '--fail-on', 'info')).code, 10)
  rmSync(join(folder, 'other.js'))
  writeFileSync(join(folder, 'jobs.js'), '')
  assert.match(
    (await run(folder, '--baseline', 'base.json')).out,
    /The baseline names FLT001 jobs\.js, which is no longer found/,
  )
  writeFileSync(join(folder, 'jobs.js'), WARNED)
  await run(folder, '--baseline', 'base.json', '--update-baseline')
  assert.equal(readFileSync(join(folder, 'base.json'), 'utf8'), written)
})

test('settings change levels, leave files out and name guards and units', async () => {
  const settings = (json: object): Record<string, string> => ({ 'cronce.audit.json': JSON.stringify(json) })
  assert.equal((await run(folderWith({ 'jobs.js': WARNED, ...settings({ rules: { FLT001: 'error' } }) }))).code, 10)
  assert.equal(
    (await run(folderWith({ 'jobs.js': UNSAFE, ...settings({ rules: { FLT001: 'off', CRN001: 'off' } }) }))).code,
    0,
  )
  assert.equal((await run(folderWith({ 'old/jobs.js': UNSAFE, ...settings({ exclude: ['old/'] }) }))).code, 0)
  const guarded =
    "import cron from 'node-cron'\nimport { once } from './fleet.js'\ncron.schedule('0 * * * *', () => once(send))\n"
  assert.equal(
    (await run(folderWith({ 'jobs.js': guarded, ...settings({ guards: ['once'] }) }), '--fail-on', 'info')).code,
    0,
  )
  assert.equal((await run(folderWith({ 'jobs.js': guarded }), '--fail-on', 'info')).code, 10)
  const units = await run(
    folderWith({ 'jobs.js': WARNED, ...settings({ units: [{ entry: 'jobs.js', instances: 3 }] }) }),
  )
  assert.match(units.out, /error FLT002 cronce\.audit\.json:1/)
})

test('settings that cannot be used end with code 2', async () => {
  for (const text of [
    '{',
    '[]',
    '{"rule":{}}',
    '{"rules":{"FLT001":"fatal"}}',
    '{"rules":{"XYZ999":"off"}}',
    '{"exclude":"a"}',
    '{"units":[{}]}',
    '{"profile":"loose"}',
  ]) {
    const { code, error } = await run(folderWith({ 'cronce.audit.json': text }))
    assert.equal(code, 2, text)
    assert.notEqual(error, '')
  }
})

test('paths choose findings, and all files still decide what they mean', async () => {
  const folder = folderWith({ 'a/jobs.js': WARNED, 'b/jobs.js': WARNED })
  const { out } = await run(folder, 'a/jobs.js', '--format', 'json')
  assert.deepEqual(
    JSON.parse(out).findings.map(({ place }: { place: { path: string } }) => place.path),
    ['a/jobs.js'],
  )
  assert.match((await run(folder, 'b', '--format', 'json')).out, /"path": "jobs\.js"/)
})

test('ignored folders and files of .gitignore are not read', async () => {
  const files = {
    '.gitignore': 'generated/\n*.local.js\n!keep.local.js\n',
    'generated/a.js': UNSAFE,
    'b.local.js': UNSAFE,
    'node_modules/c.js': UNSAFE,
  }
  assert.equal((await run(folderWith(files))).code, 0)
  assert.equal((await run(folderWith({ ...files, 'keep.local.js': UNSAFE }))).code, 10)
})

test('a file that cannot be parsed is reported and does not end the audit', async () => {
  const { code, out } = await run(
    folderWith({ 'broken.js': "import cron from 'node-cron'\nconst = \n", 'jobs.js': UNSAFE }),
  )
  assert.equal(code, 10)
  assert.match(out, /broken\.js: not read: The file cannot be parsed/)
})

test('every rule can be explained, and is in the list', async () => {
  const folder = folderWith({})
  const { out } = await run(folder, '--list-rules')
  assert.equal(out.trim().split('\n').length, RULES.length)
  for (const { id } of RULES)
    assert.match((await run(folder, '--explain', id.toLowerCase())).out, new RegExp(`^${id} `))
})

test('the checklist has 15 points', async () => {
  const { out } = await run(folderWith({ 'jobs.js': WARNED }), '--checklist')
  assert.equal(out.trim().split('\n').length, 15)
  assert.match(out, /^ 7 .+ fail: FLT001$/m)
  assert.match(out, /^12 .+ not applicable$/m)
})

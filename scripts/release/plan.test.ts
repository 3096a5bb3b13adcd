import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateChanges, findMismatches, isVersion, publishOrder, withVersion } from './plan.ts'

const LIBRARY = { name: 'lib', version: '0.1.0' }
const SUITE = { name: '@lib/suite', version: '0.1.0', peerDependencies: { lib: '0.1.0' } }
const COMMAND = { name: '@lib/command', version: '0.1.0', dependencies: { '@lib/suite': '0.1.0', yaml: '2.9.1' } }
const ALL = [COMMAND, SUITE, LIBRARY]
const OURS = new Set(ALL.map(({ name }) => name))

test('a release gives all packages one version, and leaves the dependencies of others alone', () => {
  const released = ALL.map((one) => withVersion(one, '0.2.0', OURS))
  assert.deepEqual(released[0], {
    ...{ name: '@lib/command', version: '0.2.0' },
    dependencies: { '@lib/suite': '0.2.0', yaml: '2.9.1' },
  })
  assert.deepEqual(findMismatches(released, '0.2.0'), [])
})

test('a package that was left behind is found before anything is published', () => {
  const some = [withVersion(COMMAND, '0.2.0', OURS), SUITE, withVersion(LIBRARY, '0.2.0', OURS)]
  assert.deepEqual(findMismatches(some, '0.2.0'), ['@lib/suite is 0.1.0', '@lib/suite wants lib 0.1.0'])
})

test('a package is published after those that it needs', () => {
  assert.deepEqual(publishOrder(ALL), ['lib', '@lib/suite', '@lib/command'])
})

test('the changes get the day of the release, once', () => {
  const changes = '# Changes\n\n## 0.1.0, unreleased\n\n- One.\n'
  const dated = dateChanges(changes, '0.1.0', '2026-11-18')
  assert.equal(dated, '# Changes\n\n## 0.1.0, 2026-11-18\n\n- One.\n')
  assert.equal(dateChanges(dated!, '0.1.0', '2026-11-19'), null)
})

test('versions are three numbers, with or without a label', () => {
  assert.deepEqual(['1.2.3', '1.2.3-beta.1', 'v1.2.3', '1.2', 'latest'].map(isVersion), [
    true,
    true,
    false,
    false,
    false,
  ])
})

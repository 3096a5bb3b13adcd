import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demandNode } from '../../src/app/node-version.ts'
import { connect, cronce } from '../../src/index.ts'

const TOO_OLD = {
  code: 'NODE_UNSUPPORTED',
  message: 'cronce needs Node.js 22.18 or later, but this is 20.20.2.',
  hint: 'Install Node.js 24, for example with `nvm install 24`, or set its version in the image or CI that runs this.',
}

test('Node.js 22.18 and later are supported', () => {
  for (const version of ['22.18.0', '22.20.1', '23.0.0', '24.21.0', '100.0.0']) demandNode(version)
  for (const version of ['0.12.0', '18.20.4', '20.20.2', '22.9.0', '22.17.1']) {
    assert.throws(() => demandNode(version), { code: 'NODE_UNSUPPORTED' }, version)
  }
})

test('an app and a connection name the version that they need, with every store', async (context) => {
  const { versions } = process
  context.after(() => Object.defineProperty(process, 'versions', { value: versions }))
  Object.defineProperty(process, 'versions', { value: { ...versions, node: '20.20.2' } })
  for (const store of ['sqlite:./never-made.db', 'memory:']) {
    assert.throws(() => cronce({ store }), TOO_OLD)
    await assert.rejects(connect({ store }), TOO_OLD)
  }
})

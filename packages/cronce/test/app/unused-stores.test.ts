import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

/** The folders of `store` from which a process has loaded modules, once it has opened the store of this URL. */
function loadedFor(url: string): readonly string[] {
  const program = `
    import { registerHooks } from 'node:module'
    const folders = new Set()
    registerHooks({ load(url, context, next) {
      const [, folder] = /\\/src\\/store\\/(\\w+)\\/store\\.ts$/.exec(url) ?? []
      if (folder !== undefined) folders.add(folder)
      return next(url, context)
    } })
    const { storeSource } = await import(${JSON.stringify(import.meta.resolve('../../src/app/open-store.ts'))})
    const options = { namespace: 'a', adopt: false, production: false, warn: () => {} }
    const store = await storeSource(process.argv[1]).open(options).catch(() => null)
    await store?.close()
    console.log(JSON.stringify([...folders].sort()))
    process.exit()`
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program, url], { encoding: 'utf8' }))
}

test('only the store that is opened is loaded', () => {
  assert.deepEqual(loadedFor('memory:'), ['memory'])
  assert.deepEqual(loadedFor('sqlite:/nowhere/at/all.db'), ['sqlite'])
  // A port on which nothing listens: the attempt to open it is enough.
  assert.deepEqual(loadedFor('postgres://127.0.0.1:1/none'), ['postgres'])
  assert.deepEqual(loadedFor('redis://127.0.0.1:1'), ['redis'])
  assert.deepEqual(loadedFor('etcd://127.0.0.1:1'), ['kv'])
  assert.deepEqual(loadedFor('zookeeper://127.0.0.1:1'), ['kv'])
})

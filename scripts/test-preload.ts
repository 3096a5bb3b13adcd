/** For `node --import <this> --test`: what every test file does before it loads its tests. */
import asyncHooks, { type HookCallbacks } from 'node:async_hooks'

const { createHook } = asyncHooks
const { NODE_TEST_CONTEXT } = process.env
/** What a failed test left open ends by itself within this time, or never. */
const LEFT_OPEN_MS = 10_000

/**
 * The test runner tracks every promise to attribute uncaught errors to a test, which takes half of the time of a test with virtual
 * hours. This limits it to its own tests; an uncaught error still fails the file, by its name.
 */
function createLighterHook(callbacks: HookCallbacks): ReturnType<typeof createHook> {
  const { init } = callbacks
  if (init === undefined) return createHook(callbacks)
  return createHook({
    init: (id, type, trigger, resource) => {
      if (type === 'Test') init(id, type, trigger, resource)
    },
  })
}

// Before the runner is loaded, which takes it from here.
Object.assign(asyncHooks, { createHook: createLighterHook })

// Processes and threads that a test starts do not belong to the runner: only the runner passes this on to its files.
if (NODE_TEST_CONTEXT !== undefined) {
  process.execArgv = process.execArgv.filter((option) => option !== `--import=${import.meta.url}`)
  const { after } = await import('node:test')
  // Not --test-force-exit: with it, the runner itself exits before its report is written.
  after(() => void setTimeout(() => process.exit(), LEFT_OPEN_MS).unref())
}

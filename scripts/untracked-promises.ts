/**
 * For `node --import <this> --test`. The test runner tracks every promise to attribute uncaught errors to a test, which takes half
 * of the time of a test with virtual hours. This limits it to its own tests; an uncaught error still fails the file, by its name.
 */
import asyncHooks, { type HookCallbacks } from 'node:async_hooks'

const { createHook } = asyncHooks
const { NODE_TEST_CONTEXT } = process.env

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
}

import { registerHooks } from 'node:module'
import { ECHO, KEY } from './redis-link-scripts.ts'

const [json, ...hidden] = process.argv.slice(2)
const order = JSON.parse(json!) as { task: string; url: string }

registerHooks({
  resolve(specifier, context, next) {
    if (!hidden.includes(specifier)) return next(specifier, context)
    const error = new Error(`Cannot find package '${specifier}'`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})

const { openLink } = await import('../../src/store/redis/open-link.ts')
const link = openLink(order.url, {})

/** A process with nothing left to send can end, if nothing else keeps it alive. */
function say(what: unknown): void {
  process.send!(what, () => process.disconnect())
}

async function listen(): Promise<void> {
  await (await link.session()).listen(`${KEY}:channel`, () => {})
}

switch (order.task) {
  // Not closed: the process still ends.
  case 'leave open':
    await listen()
    say(await link.run(ECHO, KEY, ['done']))
    break
  case 'ask':
    try {
      await listen()
      say(await link.run(ECHO, KEY, ['asked']))
    } catch (error) {
      say(error instanceof Error && 'code' in error ? error.code : String(error))
    }
    await link.close()
    break
  // The server may crash at any time.
  case 'go on':
    await listen()
    process.on('message', async (text: string) => {
      process.send!(await link.run(ECHO, KEY, [text]).catch((error: { code?: string }) => error.code))
    })
    process.send!('listening')
    break
}

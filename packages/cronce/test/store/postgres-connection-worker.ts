import { registerHooks } from 'node:module'

const [json, ...hidden] = process.argv.slice(2)
const order = JSON.parse(json!) as { task: string; url: string; lock?: string }

registerHooks({
  resolve(specifier, context, next) {
    if (!hidden.includes(specifier)) return next(specifier, context)
    const error = new Error(`Cannot find package '${specifier}'`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})

const { openDatabase } = await import('../../src/store/postgres/open.ts')
const database = openDatabase(order.url, { warn: (code, message) => process.send!({ warned: code, message }) })

/** A process with nothing left to send can end, if nothing else keeps it alive. */
function say(what: unknown): void {
  process.send!(what, () => process.disconnect())
}

const ECHO = { name: 'echo', sql: 'select $1::text as answer' }

switch (order.task) {
  case 'hold': {
    const session = await database.session()
    await session!.hold(BigInt(order.lock!))
    process.send!(session!.isHolding())
    setInterval(() => {}, 1_000)
    break
  }
  // Not closed: the process still ends.
  case 'leave open': {
    await database.session()
    say(await database.ask(ECHO, ['done']))
    break
  }
  case 'ask': {
    // A session does not.
    const keptAlive = setInterval(() => {}, 1_000)
    try {
      const asked = await database.ask(ECHO, ['asked'])
      const transacted = await database.transaction((tx) => database.askIn(tx, ECHO, ['transacted']))
      const session = await database.session()
      const heard = new Promise((resolve) => void session!.listen('news', resolve))
      await session!.hold(7n)
      await database.script("notify news, 'heard'")
      say([asked, transacted, await heard, session!.isHolding()])
    } catch (error) {
      say(error instanceof Error && 'code' in error ? `${error.code}: ${error.message}` : String(error))
    }
    clearInterval(keptAlive)
    await database.close()
    break
  }
}

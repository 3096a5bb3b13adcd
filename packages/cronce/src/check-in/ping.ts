import { type CheckIn, type CheckInEnd, CheckInIds, type CheckInRun } from './check-in.ts'

/** A call that takes longer has failed. */
const TIMEOUT_MS = 10_000
/** Pauses before further tries to report an end. The start is sent once: the end tells more. */
const PAUSES_MS = [500, 2_000, 8_000]
const MOST_BODY = 10_000

const SUFFIX = { succeeded: '', failed: '/fail', interrupted: '/log' } as const

/** Sends the start and the end of runs to a URL. The runs are told apart by `rid`, a UUID for each. */
export class Ping implements CheckIn {
  readonly #url: string
  readonly #sleep: (ms: number) => Promise<void>
  readonly #ids = new CheckInIds()

  constructor(url: string, sleep: (ms: number) => Promise<void>) {
    this.#url = url
    this.#sleep = sleep
  }

  async started(run: CheckInRun): Promise<void> {
    const id = crypto.randomUUID()
    this.#ids.add(run, id)
    await send(this.#url, '/start', id, '')
  }

  async ended(run: CheckInRun, { outcome, durationMs, error }: CheckInEnd): Promise<void> {
    const id = this.#ids.take(run) ?? crypto.randomUUID()
    const due = new Date(run.dueAt).toISOString()
    const text = `${run.schedule} due ${due}, attempt ${run.attempt}: ${outcome} after ${Math.round(durationMs)} ms`
    const body = error === null ? text : `${text}\n${error}`
    for (const pauseMs of PAUSES_MS) {
      try {
        return await send(this.#url, SUFFIX[outcome], id, body)
      } catch {
        await this.#sleep(pauseMs)
      }
    }
    await send(this.#url, SUFFIX[outcome], id, body)
  }
}

/** The path of such a URL is its secret: errors name the host only. */
async function send(base: string, suffix: string, id: string, body: string): Promise<void> {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/$/, '') + suffix
  url.searchParams.set('rid', id)
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let status: number
  try {
    const answer = await fetch(url, { method: 'POST', body: body.slice(0, MOST_BODY), signal, redirect: 'manual' })
    await answer.body?.cancel()
    status = answer.status
  } catch (error) {
    throw new Error(`${url.host} can't be reached: ${causeOf(error)}`)
  }
  if (status < 200 || status > 299) throw new Error(`${url.host} answered ${status}`)
}

function causeOf(error: unknown): string {
  const { cause, name } = error as { readonly cause?: { readonly code?: unknown }; readonly name?: string }
  return String(cause?.code ?? name ?? error)
}

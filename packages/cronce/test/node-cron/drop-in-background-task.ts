/** A background task, for both packages. What its file is called decides what it does. */
interface Context {
  readonly date: Date
  readonly dateLocalIso: string
  readonly triggeredAt: Date
  readonly task: { readonly name: string }
  readonly execution: { readonly id: string; readonly reason: string }
}

export async function task(context: Context): Promise<unknown> {
  const { date, dateLocalIso, triggeredAt, task: own, execution } = context
  if (own.name === 'failing') throw Object.assign(new TypeError('in the background'), { code: 'E_BACKGROUND' })
  if (own.name === 'dying') process.exit(3)
  if (own.name === 'slow') await new Promise((resolve) => setTimeout(resolve, 700))
  return {
    apart: process.pid,
    dated: date instanceof Date && triggeredAt instanceof Date,
    form: dateLocalIso.replace(/\d/g, '9'),
    name: own.name,
    reason: execution.reason,
    id: execution.id.length,
  }
}

import { app } from '../../jobs.ts'

export const dynamic = 'force-dynamic'

/** Ready from the moment in which this instance is part of the fleet until it leaves. */
export function GET(): Response {
  return new Response(null, { status: app.instance === null ? 503 : 200 })
}

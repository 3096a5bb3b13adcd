import { app } from '../../../jobs.ts'

/** Fires that another scheduler delivers: docs/triggers.md. */
export function POST(request: Request): Promise<Response> {
  return app.handleFire(request)
}

/** Next.js calls it once for each server, before it serves requests, but also for the Edge runtime, which has no processes. */
export async function register(): Promise<void> {
  const { NEXT_RUNTIME } = process.env
  if (NEXT_RUNTIME === 'nodejs') await (await import('./start.ts')).startJobs()
}

import { app } from './jobs.ts'

/** With NEXT_MANUAL_SIG_HANDLE=true, Next.js leaves the signals to the application. */
export async function startJobs(): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // stop() claims nothing more, and waits for runs. What takes longer than `drain` is handed to a peer.
    process.once(signal, () => void app.stop().then(() => process.exit()))
  }
  // Rejects if the store can't be opened.
  await app.start()
}

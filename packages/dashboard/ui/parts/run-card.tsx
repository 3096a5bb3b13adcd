import { useEffect, useState } from 'preact/hooks'
import { type ApiError, get, part } from '../core/api.ts'
import { endingText, formatDuration, formatTime } from '../core/format.ts'
import { liveState } from '../core/live.ts'
import { useLoad } from '../core/load.ts'
import { shownZone } from '../core/preferences.ts'
import { link } from '../core/router.ts'
import { maySeeInput } from '../core/session.ts'
import type { LogPage, Run } from '../core/types.ts'
import { Card, ErrorBox } from './feedback.tsx'
import { Reveal } from './reveal.tsx'

const FOLLOW_MS = 2_000

/** One attempt: where it ran, what it said, what came out. */
export function RunCard({ run, tz }: { run: Run; tz: string }) {
  const { attempt, instance, token, durationMs, latenessMs, cause, error, result, endedAt } = run
  const log = useLog(run)
  const progress = log.page === null ? run.progress : log.page.progress
  return (
    <Card title={`Attempt ${attempt}: ${endingText(run)}`}>
      <dl class="facts">
        <dt>instance</dt>
        <dd>
          <a href={link(['fleet'])}>{instance === '' ? 'none any more' : instance}</a>
        </dd>
        <dt>fencing token</dt>
        <dd>
          <code>{token}</code>
        </dd>
        <dt>took</dt>
        <dd>
          {durationMs === null ? 'still running' : formatDuration(durationMs)}, started {formatDuration(latenessMs)}{' '}
          after it could
          {cause === null ? '' : ` (${cause})`}
        </dd>
        {result === null && maySeeInput() ? null : (
          <>
            <dt>result</dt>
            <dd>
              <Reveal label="result" value={result} />
            </dd>
          </>
        )}
      </dl>
      {progress !== null && endedAt === null ? <ProgressBar {...progress} /> : null}
      {error === null ? null : <pre class="error">{error.stack ?? `${error.name}: ${error.message}`}</pre>}
      {log.error === null ? null : <ErrorBox error={log.error} about="The log" />}
      {log.page === null ? null : <Log page={log.page} tz={tz} />}
    </Card>
  )
}

function ProgressBar({ fraction, message }: { fraction: number; message: string | null }) {
  return (
    <p>
      <progress value={fraction} max={1} aria-label="Progress" /> {Math.round(fraction * 100)} % {message}
    </p>
  )
}

/** Followed while the run goes on; not while live updates are paused, or the page is hidden. */
function useLog({ schedule, token, endedAt }: Run): { readonly page: LogPage | null; readonly error: ApiError | null } {
  const [count, setCount] = useState(0)
  const { data, error } = useLoad<LogPage>(`${token} ${endedAt} ${count}`, (signal) =>
    get(`runs/${part(schedule)}/${token}/log`, {}, signal),
  )
  // What was read stays while it is read again.
  const [known, setKnown] = useState<{ page: LogPage | null; error: ApiError | null }>({ page: null, error: null })
  const isPaused = liveState.value === 'paused' || liveState.value === 'hidden'
  useEffect(() => {
    if (data !== null || error !== null) setKnown(({ page }) => ({ page: data ?? page, error }))
    const isOver = data === null ? error === null || endedAt !== null : !data.open
    if (isOver || isPaused) return
    const timer = setTimeout(() => setCount((old) => old + 1), FOLLOW_MS)
    return () => clearTimeout(timer)
  }, [data, error, isPaused])
  return known
}

function Log({ page: { items, cut }, tz }: { page: LogPage; tz: string }) {
  if (items.length === 0) return null
  return (
    <>
      <pre class="log">
        {items.map(({ at, level, message }, index) => (
          <div key={index} class={`is-${level}`}>
            <span class="muted">{formatTime(at, shownZone(tz))}</span> {message}
          </div>
        ))}
      </pre>
      {cut ? <p class="muted">The log was longer than what is kept of it.</p> : null}
    </>
  )
}

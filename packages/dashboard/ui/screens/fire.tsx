import { useState } from 'preact/hooks'
import { part, post } from '../core/api.ts'
import { counted, endingText, formatDuration, formatWall, zoneOf } from '../core/format.ts'
import { scheduleOf, useLive } from '../core/live.ts'
import { useLoad, useThrottled } from '../core/load.ts'
import { momentsOf, type Proof, readProof } from '../core/proof.ts'
import { link, place, scheduleLink } from '../core/router.ts'
import { access, authored, can, maySeeInput } from '../core/session.ts'
import type { FireView } from '../core/types.ts'
import { ActionDialog } from '../parts/dialog.tsx'
import { Card, Show, tell } from '../parts/feedback.tsx'
import { Icon } from '../parts/icons.tsx'
import { OutcomeBadge } from '../parts/outcome.tsx'
import { Reveal } from '../parts/reveal.tsx'
import { RunCard } from '../parts/run-card.tsx'
import { VerdictCard } from '../parts/verdict-card.tsx'
import { Waterfall } from '../parts/waterfall.tsx'
import { When } from '../parts/when.tsx'

const REFRESH_MS = 1_000

/** The proof of one fire: what it is, who ran it with which token, how it ended, and whether the records hold. */
export function FireScreen({ schedule, dueAt }: { schedule: string; dueAt: string }) {
  const nonce = place.value.query.get('nonce')
  const loaded = useLoad(`${schedule} ${dueAt} ${nonce}`, (signal) => readProof(schedule, dueAt, nonce, signal))
  const refresh = useThrottled(REFRESH_MS, loaded.reload)
  useLive((event) => {
    if ([schedule, null].includes(scheduleOf(event))) refresh()
  })
  return <Show from={loaded}>{(proof) => <ProofView proof={proof} reload={refresh} />}</Show>
}

function ProofView({ proof, reload }: { proof: Proof; reload: () => void }) {
  const { fire, runs } = proof
  const tz = proof.schedule === null ? 'UTC' : zoneOf(proof.schedule)
  return (
    <>
      <Head proof={proof} tz={tz} reload={reload} />
      <div class="columns proof">
        <Card title="Identity">
          <Identity fire={fire} tz={tz} />
        </Card>
        <VerdictCard verdict={proof.verdict} />
      </div>
      <Card title="Attempts">{runs.length === 0 ? <NeverRan fire={fire} /> : <Waterfall proof={proof} />}</Card>
      <Card title="What happened">
        <Story proof={proof} tz={tz} />
        <p class="muted">
          A claim is one compare-and-set in the store. Of all instances that tried, it accepted one for each attempt;
          refused claims and refused writes change nothing, so they leave no record here.
        </p>
      </Card>
      {runs.toReversed().map((run) => (
        <RunCard key={run.token} run={run} tz={tz} />
      ))}
    </>
  )
}

function Head({ proof, tz, reload }: { proof: Proof; tz: string; reload: () => void }) {
  const { fire } = proof
  return (
    <div class="head">
      <p class="crumbs">
        <a href={link(['schedules'])}>Schedules</a> / <a href={scheduleLink(fire.schedule)}>{fire.schedule}</a>
      </p>
      <h1>
        {formatWall(fire.dueAt, tz)} <span class="muted">{tz}</span>{' '}
        <OutcomeBadge state={fire.state} reason={fire.reason} />
      </h1>
      <p class="lead">
        {capitalized(endingText(fire))}
        {fire.endedAt === null ? '' : ` ${formatDuration(fire.endedAt - fire.dueAt)} after it was due`}
        {fire.attempt === 0 ? ', without an attempt' : `, in ${counted(fire.attempt, 'attempt')}`}.
      </p>
      <div class="actions">
        <FireActions fire={fire} done={reload} />
        <button type="button" onClick={() => exportProof(proof)}>
          <Icon name="save" />
          Export as evidence
        </button>
      </div>
    </div>
  )
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function Identity({ fire, tz }: { fire: FireView; tz: string }) {
  return (
    <dl class="facts">
      <dt>key</dt>
      <dd>
        <code>
          {fire.schedule} @ {new Date(fire.dueAt).toISOString()}
          {fire.nonce === '' ? '' : ` # ${fire.nonce}`}
        </code>
      </dd>
      <dt>job</dt>
      <dd>{fire.job}</dd>
      <dt>kind</dt>
      <dd>
        {fire.kind}
        {fire.round > 1 ? `, round ${fire.round}` : ''}
        {fire.range === null ? '' : `, ${counted(fire.range.count, 'due time')} in one record`}
      </dd>
      <dt>due</dt>
      <dd>
        <When at={fire.dueAt} tz={tz} /> (<When at={fire.dueAt} tz={tz} relative />)
      </dd>
      <dt>planned</dt>
      <dd>
        <When at={fire.plannedAt} tz={tz} />
      </dd>
      <dt>ended</dt>
      <dd>
        <When at={fire.endedAt} tz={tz} none="still open" />
      </dd>
      <dt>record kept until</dt>
      <dd>
        <When at={fire.expiresAt} tz={tz} />
      </dd>
      <dt>input</dt>
      <dd>
        {fire.input === null && maySeeInput() ? 'that of its schedule' : <Reveal label="input" value={fire.input} />}
      </dd>
    </dl>
  )
}

function NeverRan({ fire }: { fire: FireView }) {
  if (fire.state === 'open') return <p>No instance has claimed it yet.</p>
  return (
    <p>
      It was never started. <strong>{endingText(fire)}</strong>
      {fire.detail === null ? '' : `: ${fire.detail}`}
    </p>
  )
}

function Story({ proof, tz }: { proof: Proof; tz: string }) {
  const { fire } = proof
  return (
    <ol class="story">
      {momentsOf(proof).map(({ at, title, detail, tone }, index) => (
        <li key={`${at} ${title} ${index}`} class={tone === '' ? '' : `is-${tone}`}>
          <span class="at">
            <When at={at} tz={tz} />
            <span class="muted">
              {at >= fire.dueAt ? '+' : '−'}
              {formatDuration(at - fire.dueAt)}
            </span>
          </span>
          <strong>{title}</strong>
          <span>{detail}</span>
        </li>
      ))}
    </ol>
  )
}

function FireActions({ fire, done }: { fire: FireView; done: () => void }) {
  const [verb, setVerb] = useState<'retry' | 'cancel' | null>(null)
  const offer = fire.state === 'open' ? 'cancel' : 'retry'
  const isOffered = can(offer === 'cancel' ? 'cancelFire' : 'retryFire') && fire.range === null
  if (!isOffered) return null
  const isForced = fire.state === 'succeeded'
  const act = async (note: string): Promise<void> => {
    const path = `fires/${part(fire.schedule)}/${fire.dueAt}/${offer}`
    await post(
      path,
      { ...(offer === 'retry' && isForced ? { force: true } : {}), ...authored(note) },
      { nonce: fire.nonce },
    )
    tell(offer === 'cancel' ? 'It was asked to end.' : 'It will run once more.')
    done()
  }
  const words = offer === 'cancel' ? 'Cancel' : 'Run it again'
  return (
    <>
      <button type="button" data-action={offer} onClick={() => setVerb(offer)}>
        <Icon name={offer === 'cancel' ? 'bin' : 'play'} />
        {words}
      </button>
      {verb === null ? null : (
        <ActionDialog
          title={`${words}: ${fire.schedule}`}
          verb={words}
          isDangerous={isForced}
          act={act}
          onClose={() => setVerb(null)}
        >
          <p>
            {offer === 'cancel'
              ? 'Ends this fire, or asks its run to end. Other fires stay.'
              : `Adds another round of attempts to this fire.${isForced ? ' It has succeeded already, so its effects may be repeated.' : ''}`}
          </p>
        </ActionDialog>
      )}
    </>
  )
}

/** A file for a ticket or an auditor: the records as they were read, and the verdict. */
function exportProof(proof: Proof): void {
  const evidence = {
    format: 'cronce-fire-evidence-1',
    exportedAt: new Date().toISOString(),
    server: access.value?.version,
    ...proof,
  }
  const url = URL.createObjectURL(new Blob([JSON.stringify(evidence, null, 2)], { type: 'application/json' }))
  const anchor = document.createElement('a')
  anchor.href = url
  anchor.download = `${proof.fire.schedule.replaceAll(/[^\w.-]/g, '_')}-${proof.fire.dueAt}.json`
  anchor.click()
  URL.revokeObjectURL(url)
}

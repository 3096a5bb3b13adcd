import { useState } from 'preact/hooks'
import { get } from '../core/api.ts'
import { counted } from '../core/format.ts'
import { useLoad } from '../core/load.ts'
import { readSarif, type SarifFinding } from '../core/sarif.ts'
import { can } from '../core/session.ts'
import { Card, Empty, Show } from '../parts/feedback.tsx'
import { When } from '../parts/when.tsx'

interface AuditInfo {
  readonly report: unknown
  readonly writtenAt: number | null
  readonly problem: string | null
}

const NO_REPORT: AuditInfo = { report: null, writtenAt: null, problem: null }

/** A report of `cronce audit`, or of any analyser that writes SARIF: that of the server, or a file, which is read in the browser and sent nowhere. */
export function AuditScreen() {
  const [own, setOwn] = useState<Reading | null>(null)
  const loaded = useLoad<AuditInfo>('audit', async (signal) => (can('getAudit') ? get('audit', {}, signal) : NO_REPORT))
  const load = async (file: File | undefined): Promise<void> => {
    if (file !== undefined) setOwn(readingOf(await file.text()))
  }
  return (
    <>
      <h1>Audit</h1>
      <div class="filter">
        <label class="file">
          <span>Choose a report, in SARIF</span>
          <input type="file" accept=".sarif,.json" onChange={(event) => void load(event.currentTarget.files?.[0])} />
        </label>
        {own === null ? null : (
          <button type="button" onClick={() => setOwn(null)}>
            Close this report
          </button>
        )}
      </div>
      {own === null ? <Show from={loaded}>{(info) => <OfServer info={info} />}</Show> : <Report reading={own} />}
    </>
  )
}

type Reading = { readonly findings: readonly SarifFinding[] } | { readonly problem: string }

function readingOf(text: string): Reading {
  try {
    return { findings: readSarif(text) }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** The file that the server was given, such as the report of the last build. */
function OfServer({ info: { report, writtenAt, problem } }: { info: AuditInfo }) {
  if (problem !== null) return <Report reading={{ problem }} />
  if (report === null) {
    return (
      <Empty title="No report is loaded" command="npx cronce audit . --format sarif > audit.sarif">
        <p>
          A file is read in this browser, and sent nowhere. The option audit of the server shows the report of CI here.
        </p>
      </Empty>
    )
  }
  return (
    <>
      <p class="muted">
        The report of the server, written <When at={writtenAt} relative /> (<When at={writtenAt} />)
      </p>
      <Report reading={readingOf(JSON.stringify(report))} />
    </>
  )
}

function Report({ reading }: { reading: Reading }) {
  if ('findings' in reading) return <Findings findings={reading.findings} />
  return (
    <p class="notice is-error" role="alert">
      {reading.problem}
    </p>
  )
}

function Findings({ findings }: { findings: readonly SarifFinding[] }) {
  if (findings.length === 0) return <Empty title="The report has no findings" />
  const rules = Map.groupBy(findings, ({ rule }) => rule)
  return (
    <>
      <p>{counted(findings.length, 'finding')}</p>
      {[...rules].map(([rule, some]) => (
        <Card key={rule} title={`${rule} (${some.length})`}>
          <p class="muted">{some[0]!.about}</p>
          <ul class="lines">
            {some.map(({ place, message, level }, index) => (
              <li key={`${place} ${index}`}>
                <code class={`is-${level}`}>{place}</code>
                <span>{message}</span>
              </li>
            ))}
          </ul>
        </Card>
      ))}
    </>
  )
}

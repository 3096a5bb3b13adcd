import { useState } from 'preact/hooks'
import { counted } from '../core/format.ts'
import { readSarif, type SarifFinding } from '../core/sarif.ts'
import { Card, Empty } from '../parts/feedback.tsx'

/** A report of `cronce audit`, or of any analyser that writes SARIF. It is read in the browser, and sent nowhere. */
export function AuditScreen() {
  const [findings, setFindings] = useState<readonly SarifFinding[] | null>(null)
  const [error, setError] = useState<string | null>(null)
  const load = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    try {
      setFindings(readSarif(await file.text()))
      setError(null)
    } catch (caught) {
      setError((caught as Error).message)
    }
  }
  return (
    <>
      <h1>Audit</h1>
      <p>
        <label class="file">
          <span>Choose a report, in SARIF</span>
          <input type="file" accept=".sarif,.json" onChange={(event) => void load(event.currentTarget.files?.[0])} />
        </label>
      </p>
      {error === null ? null : (
        <p class="notice is-error" role="alert">
          {error}
        </p>
      )}
      {findings === null ? (
        <Empty title="No report is loaded" command="npx cronce audit . --format sarif > audit.sarif">
          <p>It is read in this browser, and sent nowhere.</p>
        </Empty>
      ) : (
        <Findings findings={findings} />
      )}
    </>
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

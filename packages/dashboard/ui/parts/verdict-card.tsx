import type { FireVerdict } from '../core/verdict.ts'
import { Card } from './feedback.tsx'
import { OutcomeMark } from './outcome.tsx'

/** What an independent checker says about the records of this fire. */
export function VerdictCard({ verdict: { isSound, checks, unknown } }: { verdict: FireVerdict }) {
  return (
    <Card title="Verdict">
      <p class={`verdict ${isSound ? 'is-succeeded' : 'is-failed'}`}>
        <OutcomeMark state={isSound ? 'succeeded' : 'failed'} />
        <strong>{isSound ? 'Sound' : 'Not sound'}</strong>
        <span class="muted">judged in this browser, by a checker that shares no code with the scheduler</span>
      </p>
      <ul class="checks">
        {checks.map(({ text, faults }) => (
          <li key={text}>
            <OutcomeMark state={faults.length === 0 ? 'succeeded' : 'failed'} />
            <span>
              {text}
              {faults.map((fault) => (
                <em key={fault}>{fault}</em>
              ))}
            </span>
          </li>
        ))}
        {unknown.map((text) => (
          <li key={text} class="muted">
            <OutcomeMark state="missed" />
            <span>Not known: {text}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

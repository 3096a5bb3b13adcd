import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Saved } from './saved.ts'

export interface BenchCommand<Part extends string> {
  /** Every figure once, and the large ones smaller. */
  readonly quick: boolean
  /** Those that are still to be measured; none with `--render`, which only writes what the file has. */
  readonly parts: readonly Part[]
  readonly saved: Saved
  /** Where the report for the docs goes. */
  readonly report: string | undefined
  progress(text: string): void
  /** On standard output, as text or as JSON, and in a file if one was named. */
  print(text: string, data: object): void
}

/** [--quick] [--only PART,…] [--save FILE] [--render] [--report FOLDER] [--markdown FILE] [--json] */
export function benchCommand<Part extends string>(all: readonly Part[]): BenchCommand<Part> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      save: { type: 'string' },
      report: { type: 'string' },
      render: { type: 'boolean', default: false },
      markdown: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const begun = performance.now()
  const saved = new Saved(values.save)
  return {
    quick: values.quick,
    parts: values.render ? [] : partsToMeasure(all, values.only, saved),
    saved,
    report: values.report,
    progress: (text) => void process.stderr.write(`${((performance.now() - begun) / 1000).toFixed(0)} s  ${text}\n`),
    print(text, data) {
      process.stdout.write(values.json ? `${JSON.stringify(data, null, 2)}\n` : text)
      if (values.markdown !== undefined) writeFileSync(values.markdown, text)
    },
  }
}

function partsToMeasure<Part extends string>(
  all: readonly Part[],
  only: string | undefined,
  saved: Saved,
): readonly Part[] {
  // A part that is named is measured again, even if the file has it.
  return only === undefined ? all.filter((part) => !saved.has(part)) : partsOf(all, only)
}

function partsOf<Part extends string>(all: readonly Part[], only: string): readonly Part[] {
  return only.split(',').map((name) => {
    const part = all.find((known) => known === name)
    if (part === undefined) throw new Error(`There is no part ${name}; there are ${all.join(', ')}.`)
    return part
  })
}

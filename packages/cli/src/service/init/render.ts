import type { ProjectFacts } from './detect.ts'

export interface NewFile {
  /** Without its extension: there may be one of another kind. */
  readonly stem: string
  readonly name: string
  readonly text: string
}

/** The configuration, and one example job. */
export function renderFiles(
  facts: Pick<ProjectFacts, 'isTypeScript' | 'isModule' | 'packages'>,
  store: string,
): NewFile[] {
  const ending = `${facts.isModule ? '' : 'm'}${facts.isTypeScript ? 'ts' : 'js'}`
  const jobs = `jobs.${ending}`
  return [
    { stem: 'cronce.config', name: `cronce.config.${ending}`, text: configText(facts, store, jobs) },
    { stem: 'jobs', name: jobs, text: facts.isTypeScript ? TYPED_JOBS : PLAIN_JOBS },
  ]
}

function configText({ packages }: Pick<ProjectFacts, 'packages'>, store: string, jobs: string): string {
  const options = [
    '  // --store and CRONCE_STORE beat it. env:NAME is read from the environment.',
    `  store: ${quote(store)},`,
    `  jobs: './${jobs}',`,
  ].join('\n')
  // Only what is installed can be imported.
  return packages.includes('@cronce/cli')
    ? `import { defineConfig } from '@cronce/cli'\n\nexport default defineConfig({\n${options}\n})\n`
    : `export default {\n${options}\n}\n`
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`
}

const BODY = `  app.job('hello', { cron: '* * * * *', timeout: '30s' }, async (run) => {
    run.log(\`Hello! This is the fire of \${new Date(run.fire.dueAt).toISOString()}.\`)
  })
}
`

const TYPED_JOBS = `import type { Cronce } from 'cronce'

/** What runs, and when: every fire on one of the instances. */
export default (app: Cronce): void => {
${BODY}`

/** For editors, in a comment. */
const TYPE_NOTE = ' * @param {import("cronce").Cronce} app'

const PLAIN_JOBS = `/**
 * What runs, and when: every fire on one of the instances.
${TYPE_NOTE}
 */
export default (app) => {
${BODY}`

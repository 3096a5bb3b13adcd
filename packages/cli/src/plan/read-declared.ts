import { type Cronce, cronce, type Store } from 'cronce'
import { CronceError } from 'cronce/cron'
import { type Declaration, declarationOf, onlyDeclaring, storeSource } from 'cronce/internal'
import type { Args } from '../args.ts'
import type { Io } from '../io.ts'
import { type StoreSetting, storeWords } from '../open-store.ts'
import { warn } from '../output.ts'
import { redactSecrets } from '../redact.ts'
import { declareJobs } from '../service/load-jobs.ts'
import { readServices, type ServiceSettings } from '../service/settings.ts'
import { demandFile } from '../steer/sqlite-file.ts'

/** What the code declares. Nothing has been started, and no store was opened. */
export interface DeclaredCode {
  /** One for each file: processes that together are one release. */
  readonly declarations: readonly Declaration[]
  readonly secrets: readonly string[]
  /** The store for people, without secrets. */
  readonly where: string
  /** The store that the release would be deployed on. */
  open(io: Io): Promise<Store>
}

/** Load the files with jobs as `cronce start` does, and ask what they declare. A module that starts its app is kept from starting it. */
export async function readDeclared(args: Args, io: Io, command: string): Promise<DeclaredCode> {
  const read = await onlyDeclaring(async (apps) => {
    const services = await readServices(args, io, command, apps)
    const made: Cronce[] = []
    for (const service of services) made.push(await appOf(service, io))
    return { services, made }
  })
  const [first] = read.services as readonly [ServiceSettings, ...ServiceSettings[]]
  const declarations = await Promise.all(read.made.map(askApp))
  demandOneApp(declarations)
  return {
    declarations,
    secrets: first.secrets,
    where: first.store === null ? 'the store of the app' : storeWords(first.store),
    open: (io) => openFor(first, declarations[0]!, args, io),
  }
}

async function appOf({ jobs, options, secrets }: ServiceSettings, io: Io): Promise<Cronce> {
  if (jobs.kind === 'app') return jobs.app
  const tell = (message: string): void => warn(redactSecrets(message, secrets), io)
  const app = cronce({ ...options!, signals: false, logger: { warn: tell, error: tell } })
  await declareJobs(jobs, app)
  return app
}

async function askApp(app: Cronce): Promise<Declaration> {
  const read = declarationOf(app)
  if (read !== undefined) return read()
  throw new CronceError('JOBS_INVALID', 'The app is of a version of cronce that does not tell what it declares.', {
    hint: 'Install the same version of cronce and @cronce/cli.',
  })
}

/** A release is of one app; another app is another plan. */
function demandOneApp(declarations: readonly Declaration[]): void {
  const names = [...new Set(declarations.map(({ settings }) => settings.app))]
  if (names.length < 2) return
  throw new CronceError('JOBS_INVALID', `The files declare jobs of different apps: ${names.join(', ')}.`, {
    hint: 'Plan each app by itself, or add --app NAME if they are one.',
  })
}

function openFor({ store }: ServiceSettings, declaration: Declaration, args: Args, io: Io): Promise<Store> {
  if (store === null) return declaration.open()
  return openToRead(store, args.text('namespace') ?? declaration.namespace, io)
}

/** The store as instances see it. Nothing is adopted, and no file is made. */
export function openToRead(store: StoreSetting['store'], namespace: string, io: Io): Promise<Store> {
  demandFile(store)
  return storeSource(store).open({
    namespace,
    adopt: false,
    production: io.env['NODE_ENV'] === 'production',
    warn: (_, message) => warn(message, io),
  }) as Promise<Store>
}

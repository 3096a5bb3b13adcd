import { type DeploymentsView, deploymentRecords } from '../client/deployments.ts'
import { type AppRecord, type DeploymentRecord, WATCH_OF_APP } from '../model/app.ts'
import type { Json } from '../model/json.ts'
import { everyHost, plainJob } from '../model/placement.ts'
import { readWatch } from './read-watch.ts'
import { THRESHOLDS, type Thresholds } from './rules/thresholds.ts'

/** The thresholds of each job, as the newest deployment that declares it recorded them: this process need not have the job. */
export class JobThresholds {
  readonly #base: Thresholds
  #deployments: readonly DeploymentRecord[] = []
  readonly #known = new Map<string, Thresholds>()

  /** `base`: of the app. */
  constructor(base: Thresholds) {
    this.#base = base
  }

  adopt(record: Pick<AppRecord, 'deployments'> | null): void {
    this.#deployments = record?.deployments ?? []
    this.#known.clear()
  }

  of(job: string): Thresholds {
    const known = this.#known.get(job)
    if (known !== undefined) return known
    const thresholds = this.#read(this.#chosenFor(job))
    this.#known.set(job, thresholds)
    return thresholds
  }

  #chosenFor(job: string): Json | undefined {
    const plain = plainJob(job)
    const names = [job, plain, everyHost(plain)]
    const hasJob = ({ declares, lost }: DeploymentRecord): boolean =>
      !lost && names.some((name) => declares.includes(name))
    const newest = newestOf(this.#deployments.filter(hasJob))
    return newest?.watch?.[job] ?? newest?.watch?.[plain]
  }

  #read(given: Json | undefined): Thresholds {
    return readRecorded(given, 'job', this.#base)
  }
}

/** All thresholds that are on record, of the app and of its jobs: for programs that are not a process of it. */
export interface RecordedThresholds {
  readonly ofApp: Thresholds
  readonly of: (job: string) => Thresholds
}

export function recordedThresholds(view: DeploymentsView): RecordedThresholds {
  const deployments = deploymentRecords(view)
  const newest = newestOf(deployments.filter(({ lost }) => !lost))
  const ofApp = readRecorded(newest?.watch?.[WATCH_OF_APP], 'app', THRESHOLDS)
  const jobs = new JobThresholds(ofApp)
  jobs.adopt({ deployments })
  return { ofApp, of: (job) => jobs.of(job) }
}

function newestOf(deployments: readonly DeploymentRecord[]): DeploymentRecord | undefined {
  return deployments.toSorted((a, b) => b.number - a.number)[0]
}

function readRecorded(given: Json | undefined, of: 'app' | 'job', base: Thresholds): Thresholds {
  if (given === undefined) return base
  try {
    return readWatch(given, of, base)
  } catch {
    // A newer version wrote it, with a rule that this one does not have.
    return base
  }
}

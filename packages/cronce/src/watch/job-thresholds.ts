import type { AppRecord, DeploymentRecord } from '../model/app.ts'
import type { Json } from '../model/json.ts'
import { everyHost, plainJob } from '../model/placement.ts'
import { readWatch } from './read-watch.ts'
import type { Thresholds } from './rules/thresholds.ts'

/** The thresholds of each job, as the newest deployment that declares it recorded them: this process need not have the job. */
export class JobThresholds {
  readonly #base: Thresholds
  #record: AppRecord | null = null
  readonly #known = new Map<string, Thresholds>()

  /** `base`: of the app. */
  constructor(base: Thresholds) {
    this.#base = base
  }

  adopt(record: AppRecord | null): void {
    this.#record = record
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
    const newest = this.#record?.deployments.filter(hasJob).toSorted((a, b) => b.number - a.number)[0]
    return newest?.watch?.[job] ?? newest?.watch?.[plain]
  }

  #read(given: Json | undefined): Thresholds {
    if (given === undefined) return this.#base
    try {
      return readWatch(given, 'job', this.#base)
    } catch {
      // A newer version wrote it, with a rule that this one does not have.
      return this.#base
    }
  }
}

/** What a job of this process still has to do under an old name. */
export interface RenamedJob {
  readonly job: string
  /**
   * The new name is taken, so the old one still has the job: up to the deployment of this number, no newer release that counts has
   * defined another job there. `null`: the job was renamed, and only what waits under the old name is left.
   */
  readonly upTo: number | null
  /** No schedule has the old name: another app may declare it. */
  readonly isFree: boolean
}

/** Which jobs this process may run, as of its last declaration. Written by the deployer, read when work is shared and claimed. */
export interface DeployState {
  /** Numbers of the deployments of this app that count, by id: the highest one that has a job claims its fires first. */
  numbers: ReadonlyMap<string, number>
  /** Old names of jobs that this process has under another one: it runs what still waits under the old name. */
  renamedJobs: ReadonlyMap<string, RenamedJob>
  /** Jobs of this process whose name belongs to a live app of another name: it runs none of their fires. */
  foreignJobs: ReadonlySet<string>
}

export function deployState(): DeployState {
  return { numbers: new Map(), renamedJobs: new Map(), foreignJobs: new Set() }
}

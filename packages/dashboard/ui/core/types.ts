import type { FireView, InstanceView, Outcome, RunView, ScheduleView, StepView } from 'cronce'

export type { FireView, InstanceView, Outcome, RunView, ScheduleView, StepView }

/** How a fire, a run or a bar of a picture stands. */
export type State = Outcome | 'open' | 'running' | 'cancelling' | 'parked'
export type Run = Omit<RunView, 'log' | 'logCut'>
export type Counts = Readonly<Record<'open' | Outcome, number>>

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

export interface Items<Item> {
  readonly items: readonly Item[]
}

/** Of a dialog that acts on a schedule. */
export interface ActionProps {
  readonly schedule: ScheduleView
  readonly onClose: () => void
  readonly done: () => void
}

export interface AccessInfo {
  readonly level: 'read' | 'operate'
  readonly author: string | null
  readonly version: string
  readonly operations: readonly string[]
  readonly rights: readonly string[]
  /** Some schedules only. */
  readonly partial: boolean
}

export interface StoreInfo {
  readonly name: string
  readonly now: number
  readonly latencyMs: number
  readonly offsetMs: number
}

export interface Coming {
  readonly schedule: string
  readonly job: string
  readonly dueAt: number
}

export interface Overview {
  readonly now: number
  readonly from: number
  readonly schedules: Readonly<Record<'active' | 'paused' | 'retired' | 'finished', number>> & { readonly cut: boolean }
  readonly fires: Counts & { readonly cut: boolean }
  readonly slots: readonly (Counts & { readonly at: number })[]
  readonly runs: {
    readonly count: number
    readonly latenessP95Ms: number | null
    readonly durationP50Ms: number | null
    readonly durationP95Ms: number | null
    readonly cut: boolean
  }
  readonly instances: Readonly<Record<'live' | 'draining' | 'silent' | 'running', number>>
  readonly store: StoreInfo
  readonly next: readonly Coming[]
  readonly attention: readonly { readonly kind: string; readonly about: string; readonly message: string }[]
}

export interface StripFire {
  readonly dueAt: number
  readonly nonce: string
  readonly state: FireView['state']
  readonly reason: string | null
  readonly attempt: number
  readonly durationMs: number | null
  readonly latenessMs: number | null
  readonly count: number
}

export interface StripData {
  readonly schedule: string
  readonly usualMs: number | null
  readonly fires: readonly StripFire[]
}

export interface Bucket {
  readonly at: number
  readonly worst: FireView['state'] | null
  readonly counts: Counts
}

export interface Buckets {
  readonly schedule: string
  readonly from: number
  readonly to: number
  readonly readFrom: number
  readonly items: readonly Bucket[]
  readonly cut: boolean
}

export interface HourCount {
  readonly hour: number
  readonly outcome: Outcome
  readonly count: number
}

export interface Alert {
  readonly app: string
  readonly rule: string
  readonly severity: string
  readonly state: 'firing' | 'resolved' | 'muted'
  readonly firstAt: number
  readonly lastAt: number
  readonly subjects: readonly { readonly name: string; readonly text: string }[]
  readonly count: number
}

export interface CalendarData {
  readonly from: number
  readonly to: number
  readonly hours: readonly { readonly at: number; readonly count: number }[]
  readonly crowds: readonly { readonly dueAt: number; readonly count: number; readonly schedules: readonly string[] }[]
  readonly cut: boolean
}

export interface Forecast {
  readonly items: readonly Coming[]
  readonly cut: boolean
}

export interface LogPage {
  readonly items: RunView['log']
  readonly next: number
  readonly cut: boolean
  readonly open: boolean
  readonly progress: RunView['progress']
}

export interface Deployments {
  readonly app: string
  readonly active: string | null
  readonly activated: string | null
  readonly deployments: readonly {
    readonly id: string
    readonly number: number
    readonly declares: readonly string[]
    readonly firstReadyAt: number
    readonly readyAt: number
    readonly goneAt: number | null
    readonly onProbation: boolean
  }[]
}

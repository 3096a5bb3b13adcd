import type { Outage, OutageEffect } from './outage.ts'
import { busiestHour, type Counts, countsOf, type Report } from './report.ts'

/** The simulation for programs. Times are ISO texts. */
export function simulationJson({ made, read, room, otherwise, named }: Report): object {
  const { from, until, isCut, tally, outage, outagesTried, clockChanges, collisions } = made
  const schedules = countsOf(made)
  const sum = (of: (counts: Counts) => number): number => schedules.reduce((total, one) => total + of(one), 0)
  const busiest = busiestHour(tally)
  return {
    ...{ what: read.what, from: iso(from), until: iso(until), cut: isCut },
    assumed: {
      durationMs: otherwise,
      named: Object.fromEntries(named),
      recorded: [...read.recorded.keys()],
      concurrency: Number.isFinite(room) ? room : null,
    },
    ...{ fires: sum(({ tally: one }) => one.fires), runs: tally.runs },
    ...{ succeeded: sum(({ succeeded }) => succeeded), failed: sum(({ failed }) => failed) },
    ...{ overlapped: sum(({ overlapped }) => overlapped), otherwise: sum(({ other }) => other) },
    ...{ beside: sum(({ tally: one }) => one.beside), waited: sum(({ tally: one }) => one.waited) },
    peak: { running: tally.peak.running, at: iso(tally.peak.at) },
    busiestHour: { at: iso(busiest.at), runs: busiest.runs },
    schedules: schedules.map(scheduleJson),
    /** The same number of hours each, the first of which begins at `from`. */
    hours: { from: iso(tally.from), runs: tally.starts, peak: tally.peaks },
    outage: outage === null ? null : { ...outageJson(outage), tried: outagesTried },
    ...{ clockChanges, collisions },
  }
}

function scheduleJson({ name, isPaused, tally, succeeded, failed, overlapped, other }: Counts): object {
  const { fires, reasons, runs, beside, waited, longestWaitMs, busyMs } = tally
  return {
    ...{ name, paused: isPaused, fires, succeeded, failed, overlapped, otherwise: other },
    ...{ reasons: Object.fromEntries(reasons), runs, beside, waited, longestWaitMs, busyMs },
  }
}

function outageJson({ from, to, caughtUpAt, schedules, ...counts }: Outage): object {
  return {
    ...{ from: iso(from), to: iso(to), ...counts },
    caughtUpAt: caughtUpAt === null ? null : iso(caughtUpAt),
    schedules: [...schedules].map(([name, effect]) => ({ name, ...effectJson(effect) })),
  }
}

function effectJson({ lost, after, ...counts }: OutageEffect): object {
  return { ...counts, notRun: Object.fromEntries(lost), interruptedEndedAs: Object.fromEntries(after) }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}

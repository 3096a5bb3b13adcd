import type { Args } from '../args.ts'
import { collisionsOf } from '../forecast/collisions.ts'
import { type Forecast, forecastOf } from '../forecast/forecast.ts'
import { dayOf, hourOf, pictureHead, pictureOf } from '../forecast/picture.ts'
import { formatCount, joinWords } from '../format.ts'
import type { Io } from '../io.ts'
import { STORE_FLAGS, withClient } from '../open-store.ts'
import { atMost, wholeNumber } from '../operands.ts'
import { printJson } from '../output.ts'
import { countSteps } from '../progress.ts'
import { counted } from '../steer/say.ts'
import { sanitize } from '../terminal.ts'
import { TIME_FLAGS, timeFlag, zoneOf } from '../time-words.ts'
import type { Command } from './command.ts'

const SHOWN = 10

export const forecast: Command = {
  operands: '[<prefix>]',
  examples: [
    ['cronce forecast', 'fires per hour within the next week, and schedules that are due at the same moment'],
    ['cronce forecast --days 30 --tz Europe/Berlin', 'a month, in the local hours of Berlin'],
    ['cronce forecast report: --json', 'of some schedules, for a program'],
  ],
  about:
    'Paused schedules are counted as if they were resumed; retired and finished ones are not. Jitter is not counted.',
  flags: {
    days: { type: 'string', value: 'N', help: 'How far to look, 1 to 366 days (default 7)' },
    from: { type: 'string', value: 'TIME', help: 'Start of the forecast (default now)' },
    ...TIME_FLAGS,
    ...STORE_FLAGS,
    json: { type: 'boolean', help: 'Print one JSON object and nothing else' },
  },
  run: runForecast,
}

function runForecast(args: Args, io: Io): Promise<number> {
  const [prefix] = atMost(args, 1, 'forecast')
  const days = wholeNumber(args, 'days', { min: 1, max: 366, otherwise: 7 })
  const tz = zoneOf(args)
  return withClient(args, io, async (client, io) => {
    const from = timeFlag(args, 'from', { tz, now: io.now }) ?? io.now
    const schedules = []
    for await (const schedule of client.schedules.all({ prefix })) {
      if (schedule.state === 'active' || schedule.state === 'paused') schedules.push(schedule)
    }
    const progress = countSteps(io, 'looked at', schedules.length)
    const made = forecastOf(schedules, { from, days, tz, onSchedule: () => progress.step() })
    progress.end()
    if (args.has('json')) printJson(toJson(made), io)
    else print(made, tz, io)
    return 0
  })
}

function toJson(made: Forecast): object {
  const { schedules, fires, estimated, hours, busiest } = made
  return {
    schedules,
    fires,
    estimated,
    hours: hours.map(({ at, fires: count }) => ({ at: new Date(at).toISOString(), fires: count })),
    busiest: busiest.map(({ at, names }) => ({ at: new Date(at).toISOString(), schedules: names })),
    collisions: collisionsOf(made.busiest, made.tz),
  }
}

function print(made: Forecast, tz: string, io: Io): void {
  const { schedules, fires, estimated, hours, days, busiest } = made
  if (schedules === 0) {
    io.err('No schedules that will be due.\n')
    return
  }
  const about = estimated.length === 0 ? '' : 'about '
  io.out(`${counted(schedules, 'schedule')}, ${about}${counted(fires, 'fire')} in ${counted(days, 'day')}\n\n`)
  const most = Math.max(...hours.map(({ fires: count }) => count))
  const busy = hours.find(({ fires: count }) => count === most)!
  io.out(`${pictureHead(tz, io)}\n`)
  for (const line of pictureOf(made.hours, days, io)) io.out(`${line}\n`)
  io.out(
    `\nThe busiest hour has ${counted(most, 'fire')}, ${dayOf(busy.wall)} at ${hourOf(busy.wall)}; on average there are ${formatCount(fires / hours.length)}.\n`,
  )
  const collisions = collisionsOf(busiest, tz)
  if (collisions.length > 0) {
    io.out(`\n${io.paint('bold', 'Due at the same moment')}\n`)
    for (const { words, most: together, names, times } of collisions.slice(0, SHOWN)) {
      const shown = names.slice(0, 5).map(sanitize)
      const more = names.length > shown.length ? [`${names.length - shown.length} more`] : []
      io.out(
        `  ${words}  ${counted(together, 'schedule')}, ${counted(times, 'time')}: ${joinWords([...shown, ...more])}\n`,
      )
    }
    io.out(`\n${io.paint('bold', 'To spread them')}\n`)
    const advised = new Map(collisions.flatMap(({ advice }) => advice).map((advice) => [advice.name, advice]))
    for (const { name, expression, minute, instead } of [...advised.values()].slice(0, SHOWN)) {
      io.out(`  ${sanitize(name)}: "${expression}", which is minute ${minute}, instead of "${instead}"\n`)
    }
    io.out(
      `  ${advised.size === 0 ? 'Give' : 'Or give'} their jobs a jitter: work begins up to so much later, before the next due time.\n`,
    )
  }
  if (estimated.length > 0) {
    io.err(
      `${io.paintErr('cyan', 'note:')} Due so often that their fires are estimated: ${joinWords(estimated.slice(0, 5).map(sanitize))}.\n`,
    )
  }
}

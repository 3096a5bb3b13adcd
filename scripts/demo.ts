/** `npm run demo`: the next fires of a few schedules, through the days on which clocks change. */
import { cron, every, type Trigger } from 'cronce/cron'

const SHOWN: readonly (readonly [title: string, trigger: Trigger, from: string, tz: string])[] = [
  ['every night at three in London', cron('0 3 * * *', { tz: 'Europe/London' }), '2027-03-26T12:00Z', 'Europe/London'],
  [
    'half past two in New York, where 14 March has none',
    cron('30 2 * * *', { tz: 'America/New_York' }),
    '2027-03-12T12:00Z',
    'America/New_York',
  ],
  [
    'half past one, which 7 November has twice',
    cron('30 1 * * *', { tz: 'America/New_York' }),
    '2027-11-05T12:00Z',
    'America/New_York',
  ],
  [
    'every half hour through the same night',
    cron('*/30 * * * *', { tz: 'America/New_York' }),
    '2027-11-07T04:45Z',
    'America/New_York',
  ],
  ['the working day nearest to the 15th', cron('0 9 15W * *'), '2027-01-01T00:00Z', 'UTC'],
  [
    'a minute of its own for each name',
    cron('H H(0-5) * * *', { seed: 'nightly-billing' }),
    '2027-01-01T00:00Z',
    'UTC',
  ],
  ['every 90 minutes of elapsed time', every('90m'), '2027-01-01T00:00Z', 'UTC'],
]

for (const [title, trigger, from, tz] of SHOWN) {
  const expression = trigger.kind === 'cron' ? trigger.expression : JSON.stringify(trigger)
  console.log(`\n${title}: ${expression}`)
  const wall = new Intl.DateTimeFormat('en-GB', {
    timeZone: tz,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  })
  for (const at of trigger.nextN(Date.parse(from), 5))
    console.log(`  ${new Date(at).toISOString()}  ${wall.format(at)}`)
}

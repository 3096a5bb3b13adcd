// Hostile clocks: random steps, freezes, outages; oracle: at-most-once starts at most once; effects in transactions once; once-steps once per fire (unless unknown); no run aborted when its lease was never lost.

import { seededRandom } from '../virtual/world.ts'
import { createFleet, NEW_YEAR } from './fleet.ts'

const [from, to] = process.argv.slice(2).map(Number)
let bad = 0
const stats: Record<string, number> = {}
for (let seed = from!; seed < to!; seed++) {
  const random = seededRandom(seed * 31 + 7)
  const pick = <T>(xs: readonly T[]): T => xs[Math.floor(random() * xs.length)]!
  const fleet = await createFleet({
    seed,
    latency: (r) => ({ requestMs: Math.floor(r() * 30), answerMs: Math.floor(r() * 30) }),
  })
  const charged: string[] = []
  const most: string[] = []
  const locked: { m: string; from: number; to: number }[] = []
  const members = await fleet.addMany(3, (app, m) => {
    app.job('most', { cron: '*/1 * * * *', guarantee: 'at-most-once' }, async (run) => {
      most.push(`${run.fire.dueAt}`)
      await m.clock.sleep(5000)
    })
    app.job('step', { cron: '*/1 * * * *', retry: 2 }, async (run) => {
      await m.clock.sleep(3000)
      await run.once('charge', () => void charged.push(`${run.fire.dueAt}`))
      await m.clock.sleep(3000)
    })
    app.job('tx', { cron: '*/1 * * * *', guarantee: 'exactly-once' }, async (run) => {
      await m.clock.sleep(7000)
      await run.transaction((tx) => tx.set(`p${run.fire.dueAt}`, ((tx.get(`p${run.fire.dueAt}`) as number) ?? 0) + 1))
    })
  })
  const faults = random() < 0.5
  let hard = false
  for (let step = 0; step < 25; step++) {
    await fleet.advance(1 + Math.floor(random() * 9000))
    const m = pick(members)
    const op = pick(
      faults
        ? (['step', 'step', 'host', 'block', 'pause', 'outage', 'lock'] as const)
        : (['step', 'step', 'host', 'lock'] as const),
    )
    if (op === 'step') m.step(pick([20_000, -20_000, 600, 3_600_000, -3_600_000]))
    if (op === 'host') {
      const ms = pick([20_000, -15_000, 700])
      for (const x of members) x.step(ms)
    }
    if (op === 'block') {
      hard = true
      void m.block(Math.floor(random() * 25_000), 'frozen' as never)
    }
    if (op === 'pause') {
      hard = true
      m.pause()
      await fleet.advance(1 + Math.floor(random() * 25_000))
      m.resume()
    }
    if (op === 'outage') {
      hard = true
      const e = fleet.outage({ kind: pick(['request-lost', 'answer-lost']) } as never)
      await fleet.advance(1 + Math.floor(random() * 18_000))
      e()
    }
    if (op === 'lock')
      void m.app
        .lock('x', { wait: '40s' }, async () => {
          const l = { m: m.name, from: fleet.now(), to: Infinity }
          locked.push(l)
          await m.clock.sleep(2000)
          l.to = fleet.now()
        })
        .catch(() => {})
  }
  await fleet.advance('3m')
  const problems: string[] = []
  const dup = (xs: string[]): string[] => xs.filter((x, i) => xs.indexOf(x) !== i)
  if (dup(most).length) problems.push(`at-most-once twice: ${dup(most)}`)
  if (dup(charged).length) problems.push(`step twice ${dup(charged)}`)
  for (const [k, v] of fleet.source.data.effects as Map<string, unknown>) if (v !== 1) problems.push(`effect ${k} ${v}`)
  if (!hard) {
    for (const h of fleet.handled)
      if (h.signal.aborted || h.attempt > 1)
        problems.push(`aborted or repeated without a fault: ${h.schedule} ${(h.dueAt - NEW_YEAR) / 1000} a${h.attempt}`)
    for (let i = 0; i < locked.length; i++)
      for (let j = 0; j < i; j++)
        if (locked[i]!.from < locked[j]!.to && locked[j]!.from < locked[i]!.to) problems.push('lock held twice')
    if (fleet.events('lease.lost').length) problems.push('lease.lost')
    if (fleet.events('instance.fenced').length) problems.push('fenced')
  }
  const all = (await fleet.operator.fires.list({ limit: 1000 })).items
  for (const f of all)
    stats[`${f.schedule} ${f.state} ${f.reason}`] = (stats[`${f.schedule} ${f.state} ${f.reason}`] ?? 0) + 1
  if (!hard)
    for (const f of all)
      if (f.schedule !== 'cronce:lock:x' && f.state !== 'succeeded' && f.state !== 'open')
        problems.push(`${f.schedule} ${f.state} ${f.reason}`)
  try {
    fleet.end()
  } catch (e) {
    problems.push(`promises ${String(e).slice(0, 300)}`)
  }
  if (problems.length) {
    bad++
    console.log(seed, 'hard', hard, problems.slice(0, 4))
  }
}
console.log('bad', bad, JSON.stringify(stats))
process.exit(0)

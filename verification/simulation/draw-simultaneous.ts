import type { Cast } from './draw-actions.ts'
import { drawPlan } from './draw-plan.ts'
import type { Dice } from './random.ts'
import type { Action, OperatorAction } from './scenario.ts'

const PAIRS = [
  'two triggers',
  'two triggers of one key',
  'pause and trigger',
  'pause and resume',
  'resume and trigger',
  'two definitions',
  'definition and trigger',
] as const

/** Two operators ask for something of one schedule at the same instant. By dice of its own: other draws do not depend on it. */
export function drawSimultaneous(dice: Dice, cast: Cast): Action[] {
  if (!dice.chance(0.3)) return []
  return Array.from({ length: dice.whole(1, 6) }).flatMap((): Action[] => {
    const at = Math.floor(dice.roll() * cast.faultsMs * 0.97)
    const [first, second] = drawPair(dice, cast)
    return [
      { at, ...first },
      { at, by: 'colleague', ...second },
    ]
  })
}

function drawPair(dice: Dice, cast: Cast): readonly [OperatorAction, OperatorAction] {
  const pair = dice.pick(PAIRS)
  const { created, declared } = cast
  const isDefined = pair.includes('definition') && created.length > 0
  const schedule = dice.pick(isDefined ? created : [...declared, ...created])
  const trigger = (dedupe: string | null): OperatorAction => {
    return { kind: 'op-trigger', schedule, dedupe, overlap: dice.pick(['honour', 'honour', 'ignore']) }
  }
  const missed = dice.pick(['skip', 'latest', 'all'] as const)
  const unit = cast.kind === 'days' ? 3_600_000 : 5_000
  const pause: OperatorAction = { kind: 'op-pause', schedule, missed, untilMs: dice.whole(1, 3) * unit }
  const resume: OperatorAction = { kind: 'op-resume', schedule, missed }
  const put = (): OperatorAction => {
    return { kind: 'op-define', schedule, how: 'put', plan: drawPlan(dice, cast, 'shared', false) }
  }
  switch (pair) {
    case 'two triggers of one key': {
      const key = `twin-${dice.whole(1, 3)}`
      return [trigger(key), trigger(key)]
    }
    case 'pause and trigger':
      return [pause, trigger(null)]
    case 'pause and resume':
      return [pause, resume]
    case 'resume and trigger':
      return [resume, trigger(null)]
    case 'two definitions':
      return isDefined ? [put(), put()] : [trigger(null), pause]
    case 'definition and trigger':
      return isDefined ? [put(), trigger(null)] : [resume, pause]
    case 'two triggers':
      return [trigger(null), trigger(null)]
  }
}

import type { Chaos } from './chaos.ts'
import type { Lack } from './counters.ts'
import { FAULTS, type Fault, stopWhileWriting } from './faults.ts'
import { NETWORK_FAULTS } from './network-faults.ts'
import type { Random } from './random.ts'
import { serverFaults } from './server-faults.ts'

export interface Card {
  readonly name: string
  readonly fault: Fault
}

/** The next faults, in an order that the seed decides. */
export interface Plan {
  /** From the deck, which is shuffled again when it is used up. */
  next(): Card
  /** Something that may bring about what is lacking. `undefined`: all of that is under way. */
  toward(lacking: readonly Lack[], underWay: ReadonlySet<string>): Card | undefined
}

export interface PlanOptions {
  /** Only what a verdict can't do without, for a run that has little time. */
  readonly isBrief: boolean
  /** Faults that must happen soon because the run is short. Empty: the seed alone decides. */
  readonly first: readonly Lack[]
  /** Of the caller, in addition. */
  readonly own?: readonly Card[]
}

/** Of those that there are, one each. */
const BRIEF: ReadonlySet<string> = new Set([
  'kill',
  'pause until overtaken',
  'deploy',
  'operator',
  'clock step',
  'ambush to stop',
  'ambush to lose an answer',
  'ambush to lose a request',
  'lossy link',
  'cut',
  'black hole',
  'server crash',
  'connections ended',
  'store clock step',
  'scripts forgotten',
])
/** What is not asked for then. A cell of the matrix that every test of a store has beside it is overtaken each time. */
export const NOT_BRIEF: readonly string[] = ['block', 'too many files', 'lose-answers', 'refused as overtaken']

/** These faults last, or wait for their moment. At the end of the run they would delay it. */
const LASTING: ReadonlySet<string> = new Set([
  'deploy',
  'pause until overtaken',
  'ambush to stop',
  'stop while writing',
  'black hole',
  'lost answers',
])

/** Of a fault of the caller, so that a short run meets it often. */
const OWN_CARDS = 6

export function createPlan(chaos: Chaos, random: Random, { isBrief, first, own = [] }: PlanOptions): Plan {
  const kinds = [...kindsOf(chaos), ...own.map((card) => ({ ...card, cards: OWN_CARDS }))]
  const names = new Set(own.map(({ name }) => name))
  const some = kinds.filter(({ name }) => !isBrief || BRIEF.has(name) || names.has(name))
  const deal = (): Card[] =>
    random.shuffle(
      some.flatMap(({ cards, ...card }) => Array.from({ length: isBrief ? 1 : cards }, () => ({ ...card }))),
    )
  let deck = withFirst(deal(), first)
  return {
    next() {
      if (deck.length === 0) deck = deal()
      return deck.shift()!
    },
    toward(lacking, underWay) {
      const wanted = new Set(lacking.flatMap(({ cards }) => cards))
      const cards = kinds.filter(({ name }) => wanted.has(name) && !underWay.has(name))
      return cards.length === 0 ? undefined : random.pick(cards)
    },
  }
}

function kindsOf({ store, transacts }: Chaos): (Card & { readonly cards: number })[] {
  const { network, server } = store
  return [
    ...FAULTS.filter(([, , fault]) => transacts || fault !== stopWhileWriting),
    ...(network === null ? [] : NETWORK_FAULTS),
    ...(server === null ? [] : serverFaults(server)),
  ].map(([name, cards, fault]) => ({ name, cards, fault }))
}

/** The same cards: one of each that is wanted, those that last before the others, and some of the rest in between. */
function withFirst(deck: readonly Card[], first: readonly Lack[]): Card[] {
  const wanted = [...new Set(first.flatMap(({ cards }) => cards))]
  const needed = new Set(wanted.flatMap((wantedName) => deck.find(({ name }) => name === wantedName) ?? []))
  const rest = deck.filter((card) => !needed.has(card))
  const inOrder = deck.filter((card) => needed.has(card))
  const early = [
    ...inOrder.filter(({ name }) => LASTING.has(name)),
    ...inOrder.filter(({ name }) => !LASTING.has(name)),
  ].flatMap((card, index) => [card, ...rest.splice(0, index % 2)])
  return [...early, ...rest]
}

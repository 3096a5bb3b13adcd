import { join } from 'node:path'

/** What `npm run verify:long` runs, in parts, each in slices that take minutes. A slice is repeated as a whole, or not at all. */
export interface Part {
  readonly name: string
  readonly slices: readonly Slice[]
}

export interface Slice {
  readonly part: string
  /** Unique within its part. */
  readonly name: string
  /** Of Node.js: the script with its arguments, relative to the repository. */
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

export interface Sizes {
  /** Of each simulation slice. */
  readonly simulationSeconds: number
  readonly simulationSlices: number
  /** Real fires per store. */
  readonly fires: number
  /** The explorer stops a model here. */
  readonly states: number
  readonly fleetSeconds: number
  /** For the pictures of the chaos runs. */
  readonly folder: string
}

/** The models of the explorer and the mutants are handed in, so that this file loads neither. */
export interface Names {
  readonly models: readonly string[]
  readonly mutants: readonly string[]
}

const FIRES_PER_SLICE = 2_000
const MUTANTS_PER_SLICE = 60
const CHAOS_STORES = ['sqlite', 'postgres', 'pgbouncer', 'redis', 'etcd'] as const
const MATRIX_STORES = ['sqlite', 'postgres', 'redis', 'etcd'] as const
const EXCLUSIVE_STORES = ['sqlite', 'postgres', 'redis', 'etcd'] as const

export function longParts(sizes: Sizes, { models, mutants }: Names): readonly Part[] {
  const simulation = ['verification/simulation/run.ts', '--seeds', '1000000', '--json']
  return [
    part('simulation', numbered(sizes.simulationSlices), () => [
      ...simulation,
      '--seconds',
      String(sizes.simulationSeconds),
    ]),
    part('explorer', models, (model) => [
      ...['verification/explorer/run.ts', '--model', model, '--most', String(sizes.states), '--json'],
    ]),
    part('mutants', numbered(Math.ceil(mutants.length / MUTANTS_PER_SLICE)), (_, index) => {
      const some = mutants.slice(index * MUTANTS_PER_SLICE, (index + 1) * MUTANTS_PER_SLICE)
      return ['verification/mutants/run.ts', '--only', some.join(','), '--json']
    }),
    ...CHAOS_STORES.map((store) =>
      part(`chaos-${store}`, numbered(Math.ceil(sizes.fires / FIRES_PER_SLICE)), (_, index) => [
        ...['verification/chaos/run.ts', '--store', store, '--fires', String(FIRES_PER_SLICE), '--json'],
        // One timeline is enough.
        ...(index === 0 ? ['--picture', join(sizes.folder, `chaos-${store}.svg`)] : []),
      ]),
    ),
    part('matrix', MATRIX_STORES, (store) => [
      ...['verification/chaos/run.ts', '--matrix', '--store', store, '--json'],
    ]),
    part('exclusive', EXCLUSIVE_STORES, (store) => ['verification/exclusive/run.ts', '--store', store, '--json']),
    part('peers', ['all'], () => ['verification/peers/run.ts', '--json', '--report', 'docs/reports']),
    part('skew', ['all'], () => ['verification/skew/run.ts', '--json']),
    {
      name: 'fleet',
      slices: [
        {
          ...{ part: 'fleet', name: 'three-services', args: ['--test', 'packages/cli/test/fleet.test.ts'] },
          env: { CRONCE_FLEET_SECONDS: String(sizes.fleetSeconds) },
        },
      ],
    },
  ]
}

/** Those of `wanted`: a part, or `part/slice`. An unknown name is an error that lists the known ones. */
export function chooseSlices(parts: readonly Part[], wanted: readonly string[]): readonly Slice[] {
  if (wanted.length === 0) return parts.flatMap(({ slices }) => slices)
  return wanted.flatMap((name) => {
    const [partName, sliceName] = name.split('/')
    const slices = parts
      .filter((one) => one.name === partName)
      .flatMap((one) => one.slices)
      .filter((slice) => sliceName === undefined || slice.name === sliceName)
    if (slices.length > 0) return slices
    throw new Error(`There is no part ${name}. There are ${parts.map((one) => one.name).join(', ')}.`)
  })
}

function part<Name extends string>(
  name: string,
  slices: readonly Name[],
  argsOf: (slice: Name, index: number) => readonly string[],
): Part {
  return { name, slices: slices.map((slice, index) => ({ part: name, name: slice, args: argsOf(slice, index) })) }
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1).padStart(2, '0'))
}

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { NOUNS } from '../../packages/cronce/src/testing/conformance/describe-store.ts'
import { GUARD_MUTANTS, GUARDS } from './catalogue/guards/guards.ts'
import { judgeMutant, judgeSound, seedsFrom } from './judge.ts'
import { mutate } from './mutant.ts'
import { MUTANTS } from './mutants.ts'
import { quickest, savedSeeds } from './saved-seeds.ts'

/** Should the saved one not show it any more, because the simulation draws otherwise by now. */
const FURTHER_SEEDS = 30
const { CRONCE_LONG } = process.env
/** The guard that is judged on every store each time: everything else rests on it. */
const SAMPLE = 'version-of-an-update'
const QUICK = CRONCE_LONG === '1' ? 30 : 16

test('every mutant is one: its edits fit the source as it is, and change it', () => {
  for (const mutant of MUTANTS) {
    for (const file of new Set(mutant.edits.map((edit) => edit.file))) {
      const path = file.startsWith('packages/') ? file : `packages/cronce/src/${file}`
      const source = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
      assert.notEqual(mutate(mutant, file, source), source, mutant.name)
    }
  }
})

test('no two mutants have one name', () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length)
})

test('every promise, and every rule about faults, has a mutant that breaks it', () => {
  const rules = [
    1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 31, 32, 42, 43, 44,
    47, 49,
  ]
  const promises = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9']
  const planned = ['(a)', '(b)', '(c)', '(d)', '(e)', '(f)', '(g)', '(h)'].map((letter) => `classic ${letter}`)
  const broken = new Set(MUTANTS.flatMap(({ rule }) => rule.split(', ')))
  for (const wanted of [...promises, ...planned, ...rules.map((number) => `rule ${number}`)]) {
    assert.ok(broken.has(wanted), wanted)
  }
})

test('an edit that matches nowhere, or in more places than its count, is an error', () => {
  const [mutant] = MUTANTS
  const [edit] = mutant!.edits
  assert.throws(() => mutate(mutant!, edit!.file, 'nothing of the kind'), /has 0 places, not 1/)
  assert.throws(() => mutate(mutant!, edit!.file, edit!.find.repeat(2)), /has 2 places, not 1/)
})

describe('guards of the stores', { concurrency: 2 }, () => {
  test('each names a rule of the conformance suite', () => {
    const titles = new Set<string>()
    for (const rules of Object.values(NOUNS)) rules((title) => titles.add(title))
    for (const { name, rule } of GUARDS) assert.ok(titles.has(rule), `${name}: ${rule}`)
  })
  for (const mutant of GUARD_MUTANTS.filter(({ name }) => name.endsWith(`-without-${SAMPLE}`))) {
    test(`${mutant.name}: ${mutant.breaks}`, async () => {
      const { verdict, by, message } = await judgeMutant(mutant, { seeds: [], history: false })
      assert.equal(verdict, 'caught', `${by.join()} ${message}`)
    })
  }
})

// The remaining mutants, and those that other tests judge, belong to the long run.
describe('mutants are noticed by what they name', { concurrency: 2 }, () => {
  const names = quickest(QUICK)
  const seeds = savedSeeds()
  test('the unchanged product shows no violation', async () => {
    const wanted = new Set([...names].map((name) => seeds.get(name)!.seed))
    const { by, message } = await judgeSound({ seeds: [...wanted], history: false })
    assert.deepEqual(by, [], message)
  })
  for (const mutant of MUTANTS.filter(({ name }) => names.has(name))) {
    test(`${mutant.name}: ${mutant.breaks}`, async () => {
      const wanted = seedsFrom(FURTHER_SEEDS, seeds.get(mutant.name)!.seed)
      const { verdict, by, message } = await judgeMutant(mutant, { seeds: wanted, history: false })
      assert.equal(verdict, 'caught', `${by.join()} ${message}`)
    })
  }
})

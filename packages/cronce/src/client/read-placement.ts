import type { Labels, Placement } from '../model/placement.ts'
import { isRecord, optionInvalid } from './read-option.ts'

const LABEL = /^[\w./-]{1,63}$/
const VALUE = /^[\w.:/-]{1,253}$/
const MOST_LABELS = 16
const MOST_VALUES = 100
const SAMPLE = "Write on: { role: 'db' }, or on: { zone: ['a', 'b'] }."
const VALUE_WORDS = 'letters, digits and _ . : / -'

/** The option `on`: sorted, each label with a list of values. */
export function readPlacement(on: unknown): Placement | undefined {
  if (on === undefined) return undefined
  const labels = isRecord(on) ? Object.entries(on).filter(([, value]) => value !== undefined) : []
  if (labels.length === 0 || labels.length > MOST_LABELS) {
    throw optionInvalid('on', on, `an object with 1 to ${MOST_LABELS} labels`, SAMPLE)
  }
  return Object.fromEntries(
    labels.sort(byName).map(([label, value]) => [demandLabel('on', label), readValues(label, value)]),
  )
}

function readValues(label: string, value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (values.length === 0 || values.length > MOST_VALUES) {
    throw optionInvalid(`on.${label}`, value, `a value, or a list of 1 to ${MOST_VALUES} values`, SAMPLE)
  }
  return [...new Set(values.map((one) => demandValue(`on.${label}`, one)))].sort()
}

/** The option `labels`. */
export function readLabels(labels: unknown): Labels {
  if (labels === undefined) return {}
  if (!isRecord(labels)) throw optionInvalid('labels', labels, 'an object', "Write labels: { role: 'db' }.")
  const given = Object.entries(labels).filter(([, value]) => value !== undefined)
  if (given.length > MOST_LABELS) {
    throw optionInvalid('labels', labels, `an object with at most ${MOST_LABELS} labels`, 'Leave out some.')
  }
  return Object.fromEntries(
    given.sort(byName).map(([label, value]) => [demandLabel('labels', label), demandValue(`labels.${label}`, value)]),
  )
}

/** `CRONCE_LABELS`: `role=db,zone=a`. */
export function readLabelsText(text: string): Labels {
  const pairs = text.split(',').map((pair) => pair.trim())
  const bad = pairs.find((pair) => !/^[^=]+=[^=]+$/.test(pair))
  if (bad !== undefined) {
    const hint = `Set CRONCE_LABELS to LABEL=VALUE pairs with commas between them; "${bad}" is none.`
    throw optionInvalid('labels', text, 'a text as in role=db,zone=a', hint)
  }
  return readLabels(Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])))
}

/** The name of the machine as a label. */
export function hostLabel(hostname: string): string {
  return hostname.replace(/[^\w.:/-]/g, '-').slice(0, 253) || 'localhost'
}

function demandLabel(path: string, label: string): string {
  if (LABEL.test(label)) return label
  throw optionInvalid(path, label, 'labels of letters, digits and _ . / -, up to 63 of them', SAMPLE)
}

function demandValue(path: string, value: unknown): string {
  if (typeof value === 'string' && VALUE.test(value)) return value
  throw optionInvalid(path, value, `a text of ${VALUE_WORDS}, up to 253 of them`, "Write it as in role: 'db'.")
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1
}

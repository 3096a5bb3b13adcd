import type { OpenOptions } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { Entry, Guard, KvDriver, ServerIdentity } from './driver.ts'
import type { Keys } from './keys.ts'

/** How keys and values are laid out. */
const FORMAT = 1

interface Meta {
  readonly format: number
  /** Made at random: tells a namespace from another one of the same name that took its place. */
  readonly id: string
  readonly epoch: number
  readonly cluster: string
  /** A process saw it go back in time: it must be adopted. */
  readonly isRestored?: true
}

/**
 * Which store this is, and its epoch. Every write is guarded by the key that says so: an adopted store refuses what was decided
 * before, and one that was wiped or replaced refuses everything.
 */
export class Identity {
  readonly #driver: KvDriver
  readonly #keys: Keys
  #meta: Meta
  #revision: number
  #onMove: () => void = () => {}
  /** This opening has taken it over. */
  isAdopted = false

  static async open(driver: KvDriver, keys: Keys, options: Pick<OpenOptions, 'adopt'>): Promise<Identity> {
    // Before the server says its own: a term that another process writes in between is no sign of a copy.
    const term = await readTerm(driver, keys)
    const server = await driver.identify()
    const entry = (await readMeta(driver, keys)) ?? (await createMeta(driver, keys, server))
    const identity = new Identity(driver, keys, entry)
    await identity.#settle(server, term, options.adopt)
    driver.onReplaced((unchecked) => markRestored(unchecked, keys))
    return identity
  }

  private constructor(driver: KvDriver, keys: Keys, { value, revision }: Entry) {
    this.#driver = driver
    this.#keys = keys
    this.#meta = JSON.parse(value) as Meta
    this.#revision = revision
  }

  get epoch(): number {
    return this.#meta.epoch
  }

  /** Holds as long as the store is the one that was opened, in the epoch that is known here. */
  get guard(): Guard {
    return { key: this.#keys.meta, is: 'revision', revision: this.#revision }
  }

  /** What was read before the epoch moved must be read again. */
  onMove(listener: () => void): void {
    this.#onMove = listener
  }

  /** After a guard did not hold: take over what the key says now. Throws if it is another store. */
  refresh(entry: Entry | undefined): void {
    if (entry === undefined) throw this.#replaced('its data is gone')
    if (entry.revision === this.#revision) return
    const meta = JSON.parse(entry.value) as Meta
    if (meta.id !== this.#meta.id) throw this.#replaced('another store has its place')
    if (meta.isRestored === true) throw this.#copied()
    const hasMoved = meta.epoch !== this.#meta.epoch
    this.#meta = meta
    this.#revision = entry.revision
    if (hasMoved) this.#onMove()
  }

  async #settle(server: ServerIdentity, known: Entry | undefined, adopt: boolean): Promise<void> {
    const { format, cluster, isRestored = false } = this.#meta
    if (format !== FORMAT) throw this.#otherFormat(format)
    const term = Number(known?.value ?? 0)
    const isElsewhere = isRestored || cluster !== server.cluster || server.term < term
    if (isElsewhere && !adopt) throw this.#copied()
    if (isElsewhere) await this.#adopt(server)
    // Apart from `meta`, which guards every write.
    const key = this.#keys.key('term')
    const unchanged: Guard = known ? { key, is: 'revision', revision: known.revision } : { key, is: 'absent' }
    const puts = [{ key, value: String(server.term) }]
    if (server.term !== term) await this.#driver.commit({ guards: [this.guard, unchanged], puts, groups: [] })
  }

  /** A new epoch, above every token of the original, and without the original's instances. */
  async #adopt({ cluster }: ServerIdentity): Promise<void> {
    const { isRestored: _, ...before } = this.#meta
    const meta: Meta = { ...before, epoch: before.epoch + 1, cluster }
    const puts = [{ key: this.#keys.meta, value: JSON.stringify(meta) }]
    const { isHeld, revision } = await this.#driver.commit({ guards: [this.guard], puts, groups: [] })
    if (!isHeld) {
      throw new StoreError('STORE_CONFLICT', `${this.#driver.name} was adopted by another process at the same time.`, {
        hint: 'Open it without adopt.',
      })
    }
    this.#meta = meta
    this.#revision = revision
    this.isAdopted = true
  }

  #copied(): StoreError {
    return new StoreError(
      'STORE_COPIED',
      `${this.#driver.name} was restored from a snapshot, or is a copy of another cluster: its schedules may be running elsewhere.`,
      { hint: 'If the original is gone for good, open it once with adopt; otherwise use another cluster.' },
    )
  }

  #replaced(why: string): StoreError {
    return new StoreError('STORE_REPLACED', `${this.#driver.name} was replaced: ${why}.`, {
      hint: 'Restart this process, so that it declares its schedules again.',
    })
  }

  #otherFormat(format: number): StoreError {
    return format > FORMAT
      ? new StoreError(
          'STORE_SCHEMA_NEWER',
          `A newer version of cronce changed how it keeps data in ${this.#driver.name}: format ${format}, this version knows ${FORMAT}.`,
          { hint: 'Deploy the newer version here too.' },
        )
      : new StoreError(
          'STORE_SCHEMA_OLDER',
          `${this.#driver.name} has data of an earlier version of cronce: format ${format}, this version knows ${FORMAT}.`,
          {
            hint: 'Delete its keys, or use another namespace or prefix: this version does not read the earlier format.',
          },
        )
  }
}

async function readTerm(driver: KvDriver, keys: Keys): Promise<Entry | undefined> {
  return (await driver.read([{ get: keys.key('term') }])).found[0]!.entries[0]
}

async function readMeta(driver: KvDriver, keys: Keys): Promise<Entry | undefined> {
  return (await driver.read([{ get: keys.meta }])).found[0]!.entries[0]
}

/** Processes that start later can't see it by themselves. */
async function markRestored(driver: KvDriver, keys: Keys): Promise<void> {
  const entry = await readMeta(driver, keys)
  if (entry === undefined) return
  const meta: Meta = { ...(JSON.parse(entry.value) as Meta), isRestored: true }
  const guards: Guard[] = [{ key: keys.meta, is: 'revision', revision: entry.revision }]
  await driver.commit({ guards, puts: [{ key: keys.meta, value: JSON.stringify(meta) }], groups: [] })
}

async function createMeta(driver: KvDriver, keys: Keys, { cluster }: ServerIdentity): Promise<Entry> {
  const meta: Meta = { format: FORMAT, id: crypto.randomUUID(), epoch: 1, cluster }
  const puts = [{ key: keys.meta, value: JSON.stringify(meta) }]
  const guards: Guard[] = [{ key: keys.meta, is: 'absent' }]
  // If another process was faster, its key is there now.
  const { found } = await driver.commit({ guards, puts, groups: [], reads: [{ get: keys.meta }] })
  return found[0]!.entries[0]!
}

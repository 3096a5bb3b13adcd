import { startPeer } from '../shared/processes.ts'
import type { LibraryName } from './library.ts'
import type { Prepared, Reply, Request, Round } from './protocol.ts'

/** A timing process, seen from the parent. */
export interface Child {
  readonly library: LibraryName
  prepare(workload: string, roundMs: number, warmMs: number): Promise<Prepared>
  round(round: number): Promise<Round>
  stop(): void
}

export async function startChild(library: LibraryName): Promise<Child> {
  const script = new URL('./child.ts', import.meta.url)
  const peer = await startPeer<Request, Reply>({ script, name: library, args: [library] })
  return {
    library,
    prepare: (workload, roundMs, warmMs) => peer.ask({ do: 'prepare', workload, roundMs, warmMs }, 'prepared'),
    round: (round) => peer.ask({ do: 'round', round }, 'round'),
    stop: peer.stop,
  }
}

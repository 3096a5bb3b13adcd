import { AsyncLocalStorage } from 'node:async_hooks'

/** A piece of work that this chain of asynchronous calls is in the middle of, and the one around it. */
interface Piece {
  readonly owner: object
  readonly name: string
  readonly around: Piece | undefined
  isOver: boolean
}

const pieces = new AsyncLocalStorage<Piece>()

/** Do this piece of work. What it calls, and what that calls, knows by `isWithin` what it is part of. */
export async function enter<Value>(owner: object, name: string, work: () => Value | Promise<Value>): Promise<Value> {
  const piece: Piece = { owner, name, around: pieces.getStore(), isOver: false }
  try {
    return await pieces.run(piece, work)
  } finally {
    piece.isOver = true
  }
}

/** Whether the caller is part of a piece of work that has not ended: to wait for its end would be to wait for itself. */
export function isWithin(owner: object, name: string): boolean {
  for (let piece = pieces.getStore(); piece !== undefined; piece = piece.around) {
    if (!piece.isOver && piece.owner === owner && piece.name === name) return true
  }
  return false
}

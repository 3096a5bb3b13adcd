import { invalid } from './queue-options.ts'

export interface TransactionOption {
  /**
   * Adds the job in the transaction that settles the fire: the job exists if and only if the fire has succeeded. The store of cronce
   * must be the PostgreSQL database that the queue is in.
   * @default false
   */
  readonly transaction?: boolean | undefined
}

export function readTransaction(
  target: string,
  { transaction = false, wait }: TransactionOption & { readonly wait?: string | undefined },
): boolean {
  if (typeof transaction !== 'boolean') throw invalid(target, 'transaction', 'must be true or false', 'Write true.')
  if (transaction && wait === 'completed')
    throw invalid(
      target,
      'transaction',
      "can't be with wait: 'completed'",
      'The transaction ends the run: leave out one of them.',
    )
  return transaction
}

/** The reason of an abort that only ends a wait. Without one, Node makes an error with a stack, which costs more than the wait. */
export const WAIT_ENDED = 'the wait is over'

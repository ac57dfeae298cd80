/** A larger state takes longer to write than a swap may wait. */
export const MAX_STATE_BYTES = 4 * 1024 ** 3;

import { useState } from 'react';
import { isStale } from '../../api/api-error.ts';

/** What a form goes by: the file as it was when somebody looked at it. */
export interface Look {
  readonly revision: string | undefined;
  /** The refusal after which it was looked at anew; null for the first look. */
  readonly refusal: unknown;
}

/**
 * The look after a change was sent: the same one, however often the file is read meanwhile, so that what somebody
 * writes by hand is not overwritten unseen. Only a refusal for that reason, which says so, leads to what was read since.
 */
export function nextLook(was: Look, read: string | undefined, error: unknown): Look {
  if (!isStale(error) || error === was.refusal || read === was.revision) return was;
  return { revision: read, refusal: error };
}

/** The look of a form over a file that is read again and again, and whose last change ended with `error`. */
export function useLook(read: string | undefined, error: unknown): Look {
  const [look, setLook] = useState<Look>({ revision: read, refusal: null });
  const next = nextLook(look, read, error);
  if (next !== look) setLook(next);
  return next;
}

import { useState } from 'react';
import { isStale } from '../../api/api-error.ts';

/** What a form goes by: the file as it was when somebody looked at it. */
export interface EditBase {
  readonly revision: string | undefined;
  /** The refusal after which it was looked at anew; null for the first editBase. */
  readonly refusal: unknown;
}

/**
 * The editBase after a change was sent: the same one, however often the file is read meanwhile, so that what somebody
 * writes by hand is not overwritten unseen. Only a refusal for that reason, which says so, leads to what was read since.
 */
export function nextEditBase(was: EditBase, read: string | undefined, error: unknown): EditBase {
  if (!isStale(error) || error === was.refusal || read === was.revision) return was;
  return { revision: read, refusal: error };
}

/** The editBase of a form over a file that is read again and again, and whose last change ended with `error`. */
export function useEditBase(read: string | undefined, error: unknown): EditBase {
  const [editBase, setLook] = useState<EditBase>({ revision: read, refusal: null });
  const next = nextEditBase(editBase, read, error);
  if (next !== editBase) setLook(next);
  return next;
}

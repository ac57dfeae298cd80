import { useState } from 'react';
import { isStale } from '../../api/api-error.ts';

/** The file revision that a form is based on. */
export interface EditBase {
  readonly revision: string | undefined;
  /** The edit conflict after which the form took this revision; null for the first one. */
  readonly refusal: unknown;
}

/**
 * The revision that the form uses next. It stays the same however often the file is read, so that manual edits are not
 * overwritten unseen. Only an edit conflict, which the form shows, moves it to the latest revision.
 */
export function nextEditBase(was: EditBase, read: string | undefined, error: unknown): EditBase {
  if (!isStale(error) || error === was.refusal || read === was.revision) return was;
  return { revision: read, refusal: error };
}

/** The edit base of a form. `read` is the latest revision, `error` the error of the last change. */
export function useEditBase(read: string | undefined, error: unknown): EditBase {
  const [editBase, setEditBase] = useState<EditBase>({ revision: read, refusal: null });
  const next = nextEditBase(editBase, read, error);
  if (next !== editBase) setEditBase(next);
  return next;
}

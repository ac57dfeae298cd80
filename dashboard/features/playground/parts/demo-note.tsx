import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { Note } from '../../../ui/note.tsx';

/** Says plainly that no real model answers, and how to get one. */
export function DemoNote(props: { model: V1ModelRecord | null }): ReactElement | null {
  if (!props.model?._svc.demo) return null;
  return (
    <Note tone="attention">
      <p>
        <strong>The demonstration model answers.</strong> It says one fixed sentence, to show that the whole
        way works. <Link href="/setup">Fetch a real one that fits this machine</Link>, or{' '}
        <Link href="/models?show=register">register a GGUF file</Link> that is on it.
      </p>
    </Note>
  );
}

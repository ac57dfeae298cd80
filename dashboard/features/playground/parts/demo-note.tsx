import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { V1ModelRecord } from '../../../../daemon/contract/models.ts';
import { Note } from '../../../ui/note.tsx';

/** Shown for the demo model: what it does and how to get a real one. */
export function DemoNote(props: { model: V1ModelRecord | null }): ReactElement | null {
  if (!props.model?._svc.demo) return null;
  return (
    <Note tone="attention">
      <p>
        <strong>This is the demo model.</strong> It always gives the same answer, to show that everything
        works. <Link href="/setup">Download a real model</Link> or{' '}
        <Link href="/models?show=register">add a GGUF file</Link>.
      </p>
    </Note>
  );
}

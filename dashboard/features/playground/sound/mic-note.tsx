import type { ReactElement } from 'react';
import { Note } from '../../../ui/note.tsx';

/** Explains why the microphone is unavailable, and the alternative. */
export function MicNote(props: { instead: string }): ReactElement {
  return (
    <Note tone="attention">
      <p>
        <strong>The microphone needs HTTPS or localhost.</strong> Browsers block it on plain HTTP.{' '}
        {props.instead}
      </p>
    </Note>
  );
}

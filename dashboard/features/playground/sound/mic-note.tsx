import type { ReactElement } from 'react';
import { Note } from '../../../ui/note.tsx';

/** Why there is no microphone on a page like this, and what works instead. */
export function MicNote(props: { instead: string }): ReactElement {
  return (
    <Note tone="attention">
      <p>
        <strong>The microphone needs HTTPS or localhost.</strong> Browsers give no microphone to a page on
        plain HTTP. {props.instead}
      </p>
    </Note>
  );
}

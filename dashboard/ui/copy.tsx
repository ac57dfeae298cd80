import { Check, Copy as CopyIcon } from 'lucide-react';
import { type ReactElement, type RefObject, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';

const SHOWN_MS = 2500;
const WORDS = { idle: 'Copy', copied: 'Copied', selected: 'Selected: press Ctrl+C' } as const;

/** A copy button. `shown` is the element with the text; it is selected when the browser denies the clipboard. */
export function Copy(props: {
  text: string;
  shown: RefObject<HTMLElement | null>;
  /** What is copied, for screen readers: "Copy the curl command". */
  what: string;
}): ReactElement {
  const [state, setState] = useState<keyof typeof WORDS>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  return (
    <>
      <Button
        variant="quiet"
        aria-label={`Copy ${props.what}`}
        onClick={async () => setState(await copyText(props.text, props.shown.current))}
      >
        {state === 'copied' ? (
          <Check size={14} aria-hidden="true" />
        ) : (
          <CopyIcon size={14} aria-hidden="true" />
        )}
        {WORDS[state]}
      </Button>
      <span className="hidden-visually" role="status">
        {state === 'idle' ? '' : WORDS[state]}
      </span>
    </>
  );
}

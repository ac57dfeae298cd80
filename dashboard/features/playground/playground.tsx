import { type ComponentType, lazy, type ReactElement, Suspense } from 'react';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { PLAYGROUND_TABS } from '../../app/views.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ModeBar } from './mode-bar.tsx';
import css from './playground.module.css';

/** Each mode is fetched when it is opened for the first time. */
const MODES: Readonly<Record<string, ComponentType>> = {
  chat: lazy(async () => ({ default: (await import('./chat.tsx')).Chat })),
  completion: lazy(async () => ({ default: (await import('./completion/completion.tsx')).Completion })),
  embeddings: lazy(async () => ({ default: (await import('./embeddings/embeddings.tsx')).Embeddings })),
  rerank: lazy(async () => ({ default: (await import('./rerank/rerank.tsx')).Rerank })),
  speech: lazy(async () => ({ default: (await import('./speech/speech.tsx')).Speech })),
  transcription: lazy(async () => ({
    default: (await import('./transcription/transcription.tsx')).Transcription,
  })),
  image: lazy(async () => ({ default: (await import('./image/image.tsx')).Image })),
  voice: lazy(async () => ({ default: (await import('./voice/voice.tsx')).Voice })),
};

/** Modes that fill the window and scroll inside themselves. */
const FILLING: ReadonlySet<string> = new Set(['chat']);

/** One request of every kind that the gateway serves, tried by hand. */
export function Playground(props: { mode: string }): ReactElement {
  const { mode } = props;
  const tab = PLAYGROUND_TABS.find(({ id }) => id === mode);
  useTitle(tab === undefined ? 'Not found' : `Playground: ${tab.word}`);
  const Mode = MODES[mode];
  if (tab === undefined || Mode === undefined) return <NotFound />;
  return (
    <div className={css.playground} data-fill={FILLING.has(mode) || undefined}>
      <ModeBar mode={mode} />
      <Suspense fallback={<Skeleton lines={6} what={`the mode ${tab.word}`} />}>
        <Mode />
      </Suspense>
    </div>
  );
}

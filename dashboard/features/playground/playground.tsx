import type { ComponentType, ReactElement } from 'react';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { PLAYGROUND_TABS } from '../../app/views.ts';
import { lazyView } from '../../ui/lazy/lazy-view.tsx';
import { ModeBar } from './mode-bar.tsx';
import css from './playground.module.css';

const mode = (name: string, load: () => Promise<ComponentType>): ComponentType =>
  lazyView({ what: `the ${name} mode`, load });

/** The modes, each loaded lazily on first use. */
const MODES: Readonly<Record<string, ComponentType>> = {
  chat: mode('Chat', async () => (await import('./chat.tsx')).Chat),
  completion: mode('Completion', async () => (await import('./completion/completion.tsx')).Completion),
  embeddings: mode('Embeddings', async () => (await import('./embeddings/embeddings.tsx')).Embeddings),
  rerank: mode('Rerank', async () => (await import('./rerank/rerank.tsx')).Rerank),
  speech: mode('Speech', async () => (await import('./speech/speech.tsx')).Speech),
  transcription: mode(
    'Transcription',
    async () => (await import('./transcription/transcription.tsx')).Transcription,
  ),
  image: mode('Image', async () => (await import('./image/image.tsx')).Image),
  voice: mode('Voice', async () => (await import('./voice/voice.tsx')).Voice),
};

/** Modes that fill the window and scroll internally. */
const FILLING: ReadonlySet<string> = new Set(['chat']);

/** The playground: a form for each kind of request. */
export function Playground(props: { mode: string }): ReactElement {
  const tab = PLAYGROUND_TABS.find(({ id }) => id === props.mode);
  useTitle(tab === undefined ? 'Not found' : `Playground: ${tab.word}`);
  const Mode = MODES[props.mode];
  if (tab === undefined || Mode === undefined) return <NotFound />;
  return (
    <div className={css.playground} data-fill={FILLING.has(props.mode) || undefined}>
      <ModeBar mode={props.mode} />
      <Mode />
    </div>
  );
}

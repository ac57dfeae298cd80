import { useQuery } from '@tanstack/react-query';
import { Play, Square } from 'lucide-react';
import { type ReactElement, useEffect, useRef, useState } from 'react';
import type { VoiceList } from '../../../daemon/contract/audio.ts';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { requestBytes } from '../playground/parts/request.ts';
import css from './models.module.css';
import { languageName } from './voice-language.ts';

type Voice = VoiceList['voices'][number];

/** Maximum bytes of one sample. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The voice that is being requested or played. */
interface Sample {
  readonly voice: string;
  readonly isPlaying: boolean;
  stop(): void;
}

/** Plays samples, one at a time. */
function useSamples() {
  const [sample, setSample] = useState<Sample | null>(null);
  const [error, setError] = useState<unknown>(null);
  const current = useRef<Sample | null>(null);
  const show = (next: Sample | null) => {
    current.current = next;
    setSample(next);
  };
  useEffect(() => () => current.current?.stop(), []);
  const play = async ({ id, model, sample: input }: Voice) => {
    current.current?.stop();
    setError(null);
    const control = new AbortController();
    const audio = new Audio();
    let url: string | null = null;
    const stop = () => {
      control.abort();
      audio.pause();
      if (url !== null) URL.revokeObjectURL(url);
      if (current.current?.voice === id) show(null);
    };
    show({ voice: id, isPlaying: false, stop });
    try {
      const body = { model, voice: id, input, response_format: 'wav' };
      const { bytes } = await requestBytes('v1.speech', { body, signal: control.signal }, MAX_BYTES);
      url = URL.createObjectURL(bytes);
      audio.src = url;
      audio.addEventListener('ended', stop, { once: true });
      await audio.play();
      show({ voice: id, isPlaying: true, stop });
    } catch (failure) {
      if (control.signal.aborted) return;
      stop();
      setError(failure);
    }
  };
  return { sample, error, play };
}

/** The voices of a speech model, each with its language and a button that plays a sample. */
export function Voices(props: { model: string }): ReactElement {
  const voices = useQuery(queries.voices(props.model));
  const { sample, error, play } = useSamples();
  return (
    <section className={css.part} aria-label="Voices">
      <h3>Voices</h3>
      <Loaded query={voices} what="the voices" lines={2}>
        {(data) =>
          data.voices.length === 0 ? (
            <p>This model does not list its voices.</p>
          ) : (
            <ul className={css.voices}>
              {data.voices.map((voice) => {
                const isCurrent = sample?.voice === voice.id;
                const isPlaying = isCurrent && sample.isPlaying;
                return (
                  <li key={voice.id}>
                    <span>
                      {voice.name}
                      {voice.language === null ? null : (
                        <span className={css.soft}> {languageName(voice.language)}</span>
                      )}
                    </span>
                    <Button
                      busy={isCurrent && !isPlaying}
                      onClick={() => (isPlaying ? sample.stop() : void play(voice))}
                    >
                      {isPlaying ? (
                        <Square size={14} aria-hidden="true" />
                      ) : (
                        <Play size={14} aria-hidden="true" />
                      )}
                      {isPlaying ? 'Stop' : 'Play sample'}
                      <span className="hidden-visually"> of voice {voice.name}</span>
                    </Button>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
      {error === null ? null : <Failure error={error} />}
    </section>
  );
}

import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { StreamEvent } from '../../../daemon/contract/event-stream.ts';
import type { RouteId } from '../../../daemon/contract/routes.ts';
import type { CallOptions } from '../../api/client.ts';
import { followStream } from '../../api/follow.ts';
import { LineBuffer } from './line-buffer.ts';
import { LogFollower } from './log-follower.ts';

/** Maximum number of lines. */
export const MAX_LINES = 1000;

export type LogTone = 'plain' | 'soft' | 'attention' | 'failed';
export interface LogLine {
  text: string;
  tone: LogTone;
  /** Unix milliseconds; null when the line has no time. */
  at: number | null;
}

export interface LogSource {
  id: RouteId;
  options: CallOptions;
  /** Parses an event; null when it is not a line. */
  read: (event: StreamEvent) => LogLine | null;
}

export interface LiveLog {
  lines: readonly { key: number; line: LogLine }[];
  state: 'opening' | 'live' | 'broken';
  /** The error of the gateway; it stops reconnecting. */
  error: unknown;
  paused: boolean;
  /** Number of lines since the pause. */
  held: number;
  pause: (on: boolean) => void;
  retry: () => void;
}

const GAP: LogLine = { text: '… lines missing: too many arrived at once …', tone: 'soft', at: null };

function usePageVisible(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => !document.hidden,
  );
}

/** Follows a log while the page is visible. Bounded; while paused, new lines are buffered. */
export function useLog(source: LogSource): LiveLog {
  const buffer = useRef(new LineBuffer<LogLine>(MAX_LINES));
  const [shown, setShown] = useState<LiveLog['lines']>([]);
  const [state, setState] = useState<LiveLog['state']>('opening');
  const [error, setError] = useState<unknown>(null);
  const [paused, setPaused] = useState(false);
  const [shownCount, setShownCount] = useState(0);
  const [receivedCount, setReceivedCount] = useState(0);
  const [round, setRound] = useState(0);
  const visible = usePageVisible();
  const holding = useRef(false);
  holding.current = paused;
  const latest = useRef(source);
  latest.current = source;
  const identity = JSON.stringify([source.id, source.options.params, source.options.query]);

  const show = useCallback(() => {
    setShown(buffer.current.shown());
    setShownCount(buffer.current.receivedCount);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `identity` and `round` reopen the stream
  useEffect(() => {
    if (!visible) return;
    const stop = new AbortController();
    const lines = buffer.current;
    lines.clear();
    const follower = new LogFollower<LogLine>({
      lines,
      gap: GAP,
      read: (event) => latest.current.read(event),
      draw: () => {
        setReceivedCount(lines.receivedCount);
        if (!holding.current) show();
      },
      live: () => {
        setState('live');
        setError(null);
      },
      broken: (refusal) => {
        setState('broken');
        if (refusal !== null) setError(refusal);
      },
    });
    void followStream(
      {
        id: latest.current.id,
        options: () => latest.current.options,
        onEvent: (event) => follower.event(event),
        onOpen: (again) => follower.opened(again),
        onBroken: (cause) => follower.broke(cause),
      },
      stop.signal,
    );
    return () => {
      stop.abort();
      follower.stop();
    };
  }, [identity, visible, round]);

  const pause = useCallback(
    (on: boolean) => {
      setPaused(on);
      if (!on) show();
    },
    [show],
  );
  const retry = useCallback(() => {
    setError(null);
    setState('opening');
    setRound((was) => was + 1);
  }, []);
  return { lines: shown, state, error, paused, held: paused ? receivedCount - shownCount : 0, pause, retry };
}

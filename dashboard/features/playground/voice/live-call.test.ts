import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openMicrophone } from '../sound/microphone.ts';
import { liveCall } from './live-call.ts';
import type { Cut } from './player.ts';

vi.mock('../sound/microphone.ts', () => ({ openMicrophone: vi.fn(async () => {}) }));
const played = vi.hoisted(() => ({ cut: null as Cut | null }));
vi.mock('./player.ts', () => ({
  Player: class {
    wake = async () => {};
    cut = () => {
      const { cut } = played;
      played.cut = null;
      return cut;
    };
    add = () => false;
    close = () => {};
  },
  samplesOfFile: async (file: Blob) => new Int16Array(file.size),
}));

/** STAND-IN for the gateway's side of a session. */
class Line {
  static readonly OPEN = 1;
  static readonly all: Line[] = [];
  readyState = 1;
  #waiting = 0;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly sent: string[] = [];
  /** Bytes sent at each read of `bufferedAmount`; null sends all at once. */
  drains: number | null = null;
  closed = false;

  constructor() {
    Line.all.push(this);
  }

  get bufferedAmount(): number {
    this.#waiting = Math.max(0, this.#waiting - (this.drains ?? this.#waiting));
    return this.#waiting;
  }

  send(text: string): void {
    this.sent.push(text);
    this.#waiting += text.length;
  }

  close(): void {
    this.closed = true;
  }

  greet(): void {
    this.onmessage?.({ data: JSON.stringify({ type: 'session.created', session: {} }) });
  }
}

const SETUP = { model: 'agent', instructions: '', voice: '', microphone: true };
const settled = (): Promise<void> => new Promise(setImmediate);
const line = (at: number): Line => {
  const found = Line.all[at];
  if (found === undefined) throw new Error(`there is no session ${at}`);
  return found;
};

beforeEach(() => {
  Line.all.length = 0;
  played.cut = null;
  vi.mocked(openMicrophone).mockClear();
  vi.stubGlobal('WebSocket', Line);
  vi.stubGlobal('location', { origin: 'http://box:8080' });
});
afterEach(() => {
  liveCall.stop();
  vi.unstubAllGlobals();
});

it('a session that is ended while opening stays ended, with its microphone closed', async () => {
  const start = liveCall.start(SETUP);
  await settled();
  liveCall.stop();
  line(0).greet();
  await start;
  expect(line(0).closed).toBe(true);
  expect(liveCall.get()).toMatchObject({ phase: 'ended', microphone: 'off', failure: null });
  expect(openMicrophone).not.toHaveBeenCalled();
});

it('a session that is ended before it connects opens no connection', async () => {
  const start = liveCall.start(SETUP);
  liveCall.stop();
  await start;
  expect(Line.all).toEqual([]);
  expect(liveCall.get()).toMatchObject({ phase: 'ended', failure: null });
});

it('a session that is ended while permission is pending releases a microphone that is granted later', async () => {
  let allow = (): void => {};
  vi.mocked(openMicrophone).mockReturnValueOnce(
    new Promise((resolve) => {
      allow = resolve;
    }),
  );
  const start = liveCall.start(SETUP);
  await settled();
  line(0).greet();
  await settled();
  expect(liveCall.get().phase).toBe('live');
  liveCall.stop();
  expect(vi.mocked(openMicrophone).mock.calls[0]?.[1].aborted).toBe(true);
  allow();
  await start;
  expect(liveCall.get()).toMatchObject({ phase: 'ended', microphone: 'off' });
});

it('late events of an earlier session do not affect the next one', async () => {
  const first = liveCall.start(SETUP);
  await settled();
  liveCall.stop();
  const second = liveCall.start(SETUP);
  await settled();
  line(0).greet();
  await first;
  expect(liveCall.get().phase).toBe('opening');
  line(1).greet();
  await second;
  expect(liveCall.get()).toMatchObject({ phase: 'live', microphone: 'on' });
  expect(line(1).closed).toBe(false);
  expect(line(1).sent).toHaveLength(1);
});

it('reports why the gateway ended the session', async () => {
  const start = liveCall.start(SETUP);
  await settled();
  line(0).greet();
  await start;
  line(0).onclose?.({ code: 4401, reason: 'auth.required' });
  expect(liveCall.get()).toMatchObject({ phase: 'ended', failure: { code: 'auth.required' } });
});

it('sends a whole recording with the silence that ends its turn, also over a slow connection', async () => {
  const start = liveCall.start({ ...SETUP, microphone: false });
  await settled();
  line(0).greet();
  await start;
  line(0).drains = 100_000;
  const seconds = 60;
  await liveCall.play(new Blob([new Uint8Array(24_000 * seconds)]));
  const sound = line(0).sent.filter((text) => text.includes('input_audio_buffer.append'));
  const bytes = sound.map((text) => atob((JSON.parse(text) as { audio: string }).audio).length);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(24_000 * 2 * (seconds + 0.8));
});

it('a recording ends with its session', async () => {
  const start = liveCall.start({ ...SETUP, microphone: false });
  await settled();
  line(0).greet();
  await start;
  line(0).drains = 0;
  const sent = liveCall.play(new Blob([new Uint8Array(24_000 * 60)]));
  await settled();
  liveCall.stop();
  line(0).readyState = 3;
  const before = line(0).sent.length;
  await sent;
  expect(line(0).sent).toHaveLength(before);
});

/** Starts a session with an answer that is being spoken. Returns its line and a function that emits events. */
async function answering(modality: 'audio' | 'text') {
  const start = liveCall.start({ ...SETUP, microphone: false });
  await settled();
  const session = { output_modalities: [modality] };
  const emit = (type: string, more: object) =>
    line(0).onmessage?.({ data: JSON.stringify({ type, ...more }) });
  emit('session.created', { session });
  await start;
  emit('response.created', { response: { id: 'r1' } });
  emit('conversation.item.added', { item: { id: 'i1', type: 'message', role: 'assistant', content: [] } });
  const kind = modality === 'audio' ? 'response.output_audio_transcript.delta' : 'response.output_text.delta';
  emit(kind, { item_id: 'i1', delta: 'one two three' });
  const end = () =>
    emit('response.done', {
      response: { id: 'r1', status: 'cancelled', output: [{ id: 'i1', type: 'message' }] },
    });
  const truncations = () =>
    line(0)
      .sent.map((text) => JSON.parse(text) as { type: string; item_id?: string; audio_end_ms?: number })
      .filter(({ type }) => type === 'conversation.item.truncate')
      .map(({ item_id, audio_end_ms }) => [item_id, audio_end_ms]);
  return { end, truncations };
}

it.each<[string, Cut | null, [string, number][]]>([
  ['before its first audio', null, [['i1', 0]]],
  ['while it plays', { item: 'i1', playedMs: 700, isPlayed: false }, [['i1', 700]]],
  ['while more audio is awaited', { item: 'i1', playedMs: 900, isPlayed: true }, [['i1', 900]]],
  [
    'while the audio of an earlier answer was the last',
    { item: 'i0', playedMs: 900, isPlayed: true },
    [['i1', 0]],
  ],
])('an answer that is interrupted %s ends at what was played', async (_, cut, expected) => {
  const { end, truncations } = await answering('audio');
  played.cut = cut;
  liveCall.interrupt();
  liveCall.interrupt();
  end();
  expect(truncations()).toEqual(expected);
});

it('a written answer is not truncated', async () => {
  const { end, truncations } = await answering('text');
  liveCall.interrupt();
  end();
  expect(truncations()).toEqual([]);
});

it.each<[boolean, number]>([
  [true, 0],
  [false, 1],
])('of a complete answer whose audio is played (%s), %i is truncated', async (isPlayed, count) => {
  const { end, truncations } = await answering('audio');
  end();
  played.cut = { item: 'i1', playedMs: 500, isPlayed };
  liveCall.interrupt();
  expect(truncations()).toHaveLength(count);
});

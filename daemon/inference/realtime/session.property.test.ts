/**
 * Random callers and random stages: whatever the order of inputs, the events are in order and every response
 * ends.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Effect, Input, Stage } from './step.ts';
import { SessionBench } from './testing/session-bench.ts';
import { quiet, tone } from './testing/sounds.ts';

type Move = (bench: SessionBench) => void;
const send =
  (event: Record<string, unknown>): Move =>
  (bench) =>
    void bench.send(event);

const SOUNDS = [tone(400), quiet(600), tone(30), quiet(90)];
const pick = <T>(from: readonly T[], at: number): T | undefined =>
  from.length === 0 ? undefined : from[at % from.length];
const itemId = (bench: SessionBench, at: number): string => pick(bench.state.items, at)?.id ?? 'none';

const callerMoves: fc.Arbitrary<Move> = fc.oneof(
  fc.nat(3).map(
    (at): Move =>
      (bench) =>
        void bench.append(SOUNDS[at] as Buffer),
  ),
  fc
    .constantFrom('input_audio_buffer.commit', 'input_audio_buffer.clear', 'response.cancel')
    .map((type) => send({ type })),
  fc
    .record(
      {
        output_modalities: fc.constantFrom(['text'], ['audio']),
        conversation: fc.constantFrom('auto', 'none'),
      },
      { requiredKeys: [] },
    )
    .map((response) => send({ type: 'response.create', response })),
  fc.tuple(fc.constantFrom('delete', 'retrieve', 'truncate'), fc.nat(20), fc.nat(500)).map(
    ([verb, at, ms]): Move =>
      (bench) =>
        void bench.send({
          type: `conversation.item.${verb}`,
          item_id: itemId(bench, at),
          content_index: 0,
          audio_end_ms: ms,
        }),
  ),
  fc.nat(20).map(
    (at): Move =>
      (bench) =>
        void bench.send({
          type: 'conversation.item.create',
          previous_item_id: at > 10 ? itemId(bench, at) : null,
          item: {
            type: 'message',
            role: 'user',
            content: [{ type: 'input_audio', audio: quiet(200).toString('base64') }],
          },
        }),
  ),
  fc
    .constantFrom(
      null,
      { type: 'server_vad' },
      { type: 'server_vad', interrupt_response: false },
      { type: 'semantic_vad' },
    )
    .map(
      (turns): Move =>
        (bench) =>
          void bench.update({ audio: { input: { turn_detection: turns } } }),
    ),
  fc.constantFrom('audio/pcm', 'audio/pcmu', 'audio/pcma').map(
    (type): Move =>
      (bench) =>
        void bench.update({ audio: { input: { format: { type } }, output: { format: { type } } } }),
  ),
  fc.jsonValue().map(
    (value): Move =>
      (bench) =>
        void bench.send({ type: 'conversation.item.create', item: value }),
  ),
);

const error = { code: 'slot.failed', message: 'It is gone.' };
const times = { firstMs: 1, ms: 2 };

/** Inputs of a stage for the newest response, in time or much too late. */
const STAGE_INPUTS: readonly ((response: string) => Input)[] = [
  (response) => ({ kind: 'text', response, text: 'one two. ' }),
  (response) => ({ kind: 'call', response, index: 0, name: 'f', arguments: '{"a":' }),
  (response) => ({ kind: 'call', response, index: 1, name: 'g', arguments: '{}' }),
  (response) => ({ kind: 'sentence', response, text: 'one two.' }),
  (response) => ({ kind: 'sound', response, bytes: tone(40) }),
  (response) => ({ kind: 'answered', response, finish: 'stop', tokens: null, times }),
  (response) => ({ kind: 'spoken', response, times }),
  (response) => ({ kind: 'failed', response, error }),
];

const transcribe = (bench: SessionBench, at: number, text: string | null): void => {
  const item = pick(bench.state.transcribing, at);
  if (item === undefined) return;
  bench.dispatch(
    text === null
      ? { kind: 'transcription_failed', item, error }
      : { kind: 'transcribed', item, text, seconds: 1, ms: 1 },
  );
};

const stageMoves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    // Often for the newest response, sometimes for one before it.
    arbitrary: fc.tuple(fc.nat(STAGE_INPUTS.length - 1), fc.constantFrom(0, 0, 0, 1, 2)).map(
      ([at, back]): Move =>
        (bench) => {
          const requests = bench.effects.filter(
            (effect): effect is Extract<Effect, { kind: 'answer' }> => effect.kind === 'answer',
          );
          const request = requests.at(-1 - back);
          const make = STAGE_INPUTS[at];
          if (request && make) bench.dispatch(make(request.response));
        },
    ),
  },
  fc.tuple(fc.nat(5), fc.constantFrom('words', '', null)).map(
    ([at, text]): Move =>
      (bench) =>
        transcribe(bench, at, text),
  ),
  fc.constant<Move>((bench) => void bench.dispatch({ kind: 'idle' })),
  fc.subarray<Stage>(['chat', 'stt', 'tts']).map(
    (stages): Move =>
      (bench) => {
        bench.stages = stages;
      },
  ),
);

/** Everything that was started ends. */
function settle(bench: SessionBench): void {
  const open = () => [bench.state.response ?? [], bench.state.sideResponses].flat();
  for (let round = 0; bench.state.transcribing.length > 0 || open().length > 0; round++) {
    if (round > 200) throw new Error('it never ends');
    transcribe(bench, 0, 'words');
    for (const { id, waitsFor } of open()) {
      if (waitsFor !== null) continue;
      bench.dispatch({ kind: 'answered', response: id, finish: 'stop', tokens: null, times });
      bench.dispatch({ kind: 'spoken', response: id, times });
    }
  }
}

/** States that the histories must reach at least once, so that the test is meaningful. */
const REQUIRED_STATES = ['completed', 'cancelled', 'failed'];

test('order, ids and ends are correct for every sequence of inputs', () => {
  const ends = new Set<unknown>();
  const move = fc.oneof({ weight: 3, arbitrary: callerMoves }, { weight: 4, arbitrary: stageMoves });
  const property = fc.property(
    fc.array(move, { maxLength: 80, size: 'max' }),
    fc.constantFrom('realtime', 'transcription'),
    (moves, type) => {
      const bench = new SessionBench({ type: type as 'realtime' });
      for (const each of moves) each(bench);
      settle(bench);
      expect(bench.checker.active).toBe(false);
      for (const { response } of bench.checker.events)
        ends.add((response as { status?: string } | undefined)?.status);
      expect(bench.effects.filter(({ kind }) => kind === 'answer').length).toBeLessThanOrEqual(
        bench.effects.filter(({ kind }) => kind === 'stop').length,
      );
    },
  );
  fc.assert(property, { numRuns: 400 });
  for (const end of REQUIRED_STATES) expect(ends).toContain(end);
});
